/** Italian: ordinals have genders, "alle 14.30" is a time, and articles run into numbers. */
import { toCardinal, toOrdinal } from "n2words/it-IT"
import { abbreviation } from "../kinds/abbreviation.ts"
import type { ClockTime, Language } from "../language.ts"
import { fractionInPairs, type Gender } from "../number.ts"
import { currenciesOf, magnitudesOf, nounsOf, tableOf } from "../tables.ts"
import { following, type Place, previousCore, type Said, said, wordAt } from "../word.ts"
import { dateWith, powerWith, romance } from "./romance.ts"

const months = "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre".split(
  " "
)

/** "Uno" alone, "un" and "una" before a noun. */
const cardinal = (digits: string, gender?: Gender): string => {
  const text = toCardinal(digits)
    .replace(/mila e (?=\p{L})/u, "mila")
    .replace(/(?<=\p{L})tre$/u, "tré")
  if (gender === undefined || Number(digits) !== 1) return text
  return gender === "feminine" ? "una" : "un"
}

const ordinal = (digits: string, gender?: Gender): string => {
  const text = digits.length > 6 || digits === "0" ? cardinal(digits) : toOrdinal(digits)
  return gender === "feminine" ? text.replace(/o$/u, "a") : text
}

const articles =
  /^(?:il|lo|la|al|alla|allo|del|della|dello|dal|dalla|nel|nella|nello|sul|sulla|un|una|uno|primo|suo|sua|mio|mia|ogni|dell['’]|l['’])$/iu

/** "3º", "1ª". "25°" are degrees unless an article stands before. */
const sayOrdinal = (core: string, _: unknown, place: Place): string | undefined => {
  const [, digits, sign = ""] = /^(\d{1,4})(º|ª|°|\^|mo|ma|esimo|esima)$/u.exec(core) ?? []
  if (digits === undefined) return undefined
  const isCounted = articles.test(previousCore(place)) && !/^[CF]$/u.test(following(place)?.core ?? "")
  if (sign === "°" && !isCounted) return undefined
  return ordinal(digits, /^(?:ª|ma|esima)$/u.test(sign) ? "feminine" : "masculine")
}

const functionWords =
  /^(?:per|con|senza|tra|fra|sopra|sotto|fino|come|che|quando|dove|più|meno|era|fu|ora|ogni|una|una|contro|ancora|mostra|della?|nella?|dalla?|sulla?|alla?|dopo|prima|oggi|circa|vale)$/u

const genderAt = (place: Place): Gender | undefined => {
  const [previous, next] = [previousCore(place), following(place)?.core ?? ""]
  if (
    /^(?:pagina|capitolo|numero|articolo|anno|secolo|livello|passo|sezione|tomo|riga|linea|fase|parte|binario)$/iu.test(
      previous
    )
  )
    return undefined
  if (!/^\p{Ll}{3,}$/u.test(next) || functionWords.test(next)) return undefined
  return /(?:a|zione|sione|tà|tù|trice)$/u.test(next) && !/(?:ma|ta)$/u.test(next)
    ? "feminine"
    : /(?:ma|volta|carta|partita|vita|visita|settimana)$/u.test(next) &&
        !/(?:problema|sistema|tema|programma|clima|dramma|gramma)$/u.test(next)
      ? "feminine"
      : "masculine"
}

const time = ({ half, hour, minute = 0, second = 0 }: ClockTime): string => {
  const parts = [cardinal(String(hour), "feminine")]
  if (minute > 0) parts.push(`e ${cardinal(String(minute))}`)
  if (second > 0) parts.push(`e ${cardinal(String(second), "masculine")} ${second === 1 ? "secondo" : "secondi"}`)
  if (half === "am") parts.push("di mattina")
  if (half === "pm") parts.push(hour > 5 && hour < 12 ? "di sera" : "di pomeriggio")
  return parts.join(" ")
}

const partOf = (below: string) => (below === "2" ? "mezzo" : ordinal(below))

const fraction = (above: string, below: string, gender?: Gender): string => {
  if (above === "1" && below === "2") return gender === "feminine" ? "mezza" : "mezzo"
  return above === "1" ? `un ${partOf(below)}` : `${cardinal(above)} ${partOf(below).replace(/o$/u, "i")}`
}

const mixed = (whole: string, above: string, below: string, gender?: Gender) =>
  whole === "0" ? fraction(above, below) : `${cardinal(whole)} e ${fraction(above, below, gender)}`

/** "Metro" has "metri", "tonnellata" "tonnellate", "per cento" nothing else. */
const plural = (one: string): string => {
  const [first = "", ...rest] = one.split(" ")
  const many = first.replace(/[oe]$/u, "i").replace(/a$/u, "e")
  return [many, ...rest].join(" ")
}

const rules = { gender: "masculine", plural } as const

const currencies = currenciesOf(
  `
  EUR euro/euro, centesimo; USD dollaro, centesimo; AUD dollaro australiano/dollari australiani, centesimo; CAD dollaro canadese/dollari canadesi, centesimo; NZD dollaro neozelandese/dollari neozelandesi, centesimo
  HKD dollaro di Hong Kong, centesimo; BRL real/real, centavo; MXN peso messicano/pesos messicani, centavo; GBP:f sterlina, penny/pence; CHF franco svizzero/franchi svizzeri, centesimo
  JPY yen/yen; CNY yuan/yuan; INR:f rupia; SEK:f corona svedese/corone svedesi; NOK:f corona norvegese/corone norvegesi; DKK:f corona danese/corone danesi; PLN zloty/zloty; KRW won/won; RUB rublo
  TRY:f lira turca/lire turche; ILS shekel/shekel; BTC bitcoin/bitcoin; USDC U S D C/U S D C; ¢ centesimo
`,
  rules
)

const magnitudes = magnitudesOf(
  "mila|k mila/mila; mille mille/mille; m|mln|mil|mio|milione|milioni milione; mld|mrd|md|miliardo|miliardi miliardo; bilione|bilioni bilione",
  rules
)

const units = nounsOf(
  `
  km chilometro; m metro; cm centimetro; dm decimetro; mm millimetro; nm nanometro; µm micrometro; μm micrometro; mi miglio/miglia; ha ettaro; ft piede; in pollice; mq metro quadrato/metri quadrati; kmq chilometro quadrato/chilometri quadrati; mc metro cubo/metri cubi
  kg chilogrammo; g grammo; gr grammo; mg milligrammo; µg microgrammo; μg microgrammo; t:f tonnellata; q quintale; lb:f libbra; oz:f oncia/once; hg etto
  l litro; L litro; lt litro; ml millilitro; mL millilitro; cl centilitro; dl decilitro; hl ettolitro
  kB kilobyte/kilobyte; KB kilobyte/kilobyte; MB megabyte/megabyte; GB gigabyte/gigabyte; TB terabyte/terabyte; Mbps megabit al secondo/megabit al secondo; Gbps gigabit al secondo/gigabit al secondo; Mbit megabit/megabit
  Hz hertz/hertz; kHz kilohertz/kilohertz; MHz megahertz/megahertz; GHz gigahertz/gigahertz; ms millisecondo; µs microsecondo; ns nanosecondo; s secondo; sec secondo; min minuto; h:f ora; gg giorno
  W watt/watt; kW chilowatt/chilowatt; MW megawatt/megawatt; GW gigawatt/gigawatt; Wh wattora/wattora; kWh chilowattora/chilowattora; MWh megawattora/megawattora; mAh milliampere ora/milliampere ora; V volt/volt; kV chilovolt/chilovolt; mV millivolt/millivolt; A ampere/ampere; mA milliampere/milliampere; Ω ohm/ohm
  J joule/joule; kJ chilojoule/chilojoule; cal:f caloria; kcal:f chilocaloria; N newton/newton; Pa pascal/pascal; kPa chilopascal/chilopascal; hPa ettopascal/ettopascal; bar bar/bar; CV cavallo
  km/h chilometro all'ora; m/s metro al secondo; km/s chilometro al secondo; mph miglio all'ora/miglia all'ora; l/min litro al minuto
  °C grado Celsius; ºC grado Celsius; °F grado Fahrenheit; ° grado; °_C grado Celsius
  % per cento/per cento; ‰ per mille/per mille; dB decibel/decibel; px pixel/pixel; MP megapixel/megapixel; ppm:f parte per milione; mol:f mole; lm lumen/lumen; ab abitante; pt punto
`,
  rules
)

const signs = tableOf(`
  & e; + più; = uguale; == uguale; != diverso da; ≠ diverso da; ≈ circa; ~ circa; ± più o meno; × per; · per; ÷ diviso
  < minore di; > maggiore di; <= minore o uguale a; >= maggiore o uguale a; ≤ minore o uguale a; ≥ maggiore o uguale a
  √ radice quadrata di; ∞ infinito; % per cento; ° gradi; § paragrafo; ¶ capoverso; @ chiocciola; # cancelletto; → a; -> a; => a
  © copyright; $ dollari; € euro; £ sterline; && e; || o; Ω ohm; v versione; •; π pi greco
`)

const operators = tableOf(`
  + più; - meno; − meno; * per; × per; · per; / fratto; ÷ diviso; = uguale; < è minore di; > è maggiore di
  <= è minore o uguale a; >= è maggiore o uguale a; ≤ è minore o uguale a; ≥ è maggiore o uguale a; ≠ è diverso da; ≈ è circa
`)

const symbols = {
  ...tableOf(`
    . punto; @ chiocciola; / barra; \\ barra inversa; - trattino; _ trattino basso; : due punti; , virgola; ? punto interrogativo; ! punto esclamativo
    & e; = uguale; + più; # cancelletto; % per cento; ~ tilde; * asterisco; ' apostrofo; " virgolette; ( parentesi aperta; ) parentesi chiusa; $ dollaro
  `),
  ";": "punto e virgola"
}

const abbreviations = abbreviation({
  titles: `
    sig. signor; sig.ra signora; sig.na signorina; sigg. signori; dott. dottor; dr. dottor; dott.ssa dottoressa; dr.ssa dottoressa; prof. professor; prof.ssa professoressa; ing. ingegner; avv. avvocato
    arch. architetto; geom. geometra; rag. ragionier; on. onorevole; gen. generale; cap. capitano; mons. monsignor; s. san; ss. santi; spett. spettabile; egr. egregio; gent.ma gentilissima; gent.mo gentilissimo; l'avv. l'avvocato; l'ing. l'ingegner; l'on. l'onorevole; l'arch. l'architetto
  `,
  numbered: `
    n. numero; n° numero; nº numero; nr. numero; num. numero; nn. numeri; art. articolo; artt. articoli; cap. capitolo; pag. pagina; pagg. pagine; p. pagina; pp. pagine; vol. volume; fig. figura; tel. telefono; cell. cellulare
    tab. tabella; int. interno; sez. sezione; ed. edizione; rif. riferimento; c. comma; l'art. l'articolo; dell'art. dell'articolo; all'art. all'articolo
  `,
  inside: `
    p.es. per esempio; ad.es. ad esempio; es. esempio; ca. circa; vs. contro; cfr. confronta; max. massimo; min. minimo; tel. telefono; v.le viale; p.zza piazza; c.so corso; c.a. corrente anno; c.m. corrente mese; u.s. ultimo scorso
    fam. famiglia; ecc.mo eccellentissimo; c/o presso; s.n. senza numero; n.b. nota bene; i.e. cioè; e.g. per esempio; cd. cosiddetto; p.v. prossimo venturo; dip. dipartimento; prot. protocollo; all. allegato
  `,
  perhapsLast: `
    ecc. eccetera; etc. eccetera; s.p.a. S P A; spa S P A; s.r.l. S R L; srl S R L; a.c. avanti Cristo; d.c. dopo Cristo; jr. junior; u.s.a. U S A; f.lli fratelli; cmq comunque; nn non; tvb ti voglio bene; a.m. di mattina; p.m. di pomeriggio
  `
})

const rulers = new Set(
  (
    "Luigi Carlo Vittorio Emanuele Umberto Filippo Francesco Enrico Elisabetta Giorgio Giacomo Riccardo Guglielmo Caterina Pietro Paolo Giovanni Pio Benedetto Leone Gregorio Clemente Innocenzo Urbano Giulio Edoardo " +
    "Nicola Alessandro Ivan Napoleone Federico Ferdinando Giuseppe Leopoldo Amedeo Alfonso Juan Felipe Maria Sisto Bonifacio Celestino Adriano Cosimo Lorenzo Ottone Massimiliano Margherita Gustavo Carlo Alberto"
  ).split(" ")
)
const queens = /^(?:Elisabetta|Caterina|Maria|Margherita)$/u

/** "un'ora", "uno studente": what one is before a noun. */
const one = (place: Place): Said | undefined => {
  const [core, next] = [wordAt(place)?.core ?? "", following(place)?.core ?? ""]
  if (core !== "1" || !/^\p{Ll}{3,}$/u.test(next)) return undefined
  const isFeminine = next === "ora" || genderAt(place) === "feminine"
  if (isFeminine) return /^[aeiou]/u.test(next) ? said(`un'${next}`, null) : undefined
  return genderAt(place) !== undefined && /^(?:s[^aeiou]|z|gn|ps|x|y)/u.test(next) ? said("uno") : undefined
}

export const italian: Language = {
  ...romance({
    months:
      "gen gennaio; feb febbraio; mar marzo; apr aprile; mag maggio; giu giugno; lug luglio; ago agosto; set settembre; sett settembre; ott ottobre; nov novembre; dic dicembre",
    weekdays: "lun lunedì; mar martedì; mer mercoledì; gio giovedì; ven venerdì; sab sabato; dom domenica",
    roman: {
      rulers,
      ofRuler: (digits, ruler) => ordinal(digits, queens.test(ruler) ? "feminine" : "masculine"),
      headings:
        /^(?:capitolo|tomo|parte|atto|titolo|allegato|tipo|fase|classe|libro|scena|volume|appendice|articolo)$/iu,
      counted:
        /^(?:secolo|secoli|guerra|repubblica|congresso|edizione|giornata|dinastia|legislatura|fiera|festival|concilio|premio|municipio|canto)$/iu
    },
    codes:
      /^(?:tel|telefono|cellulare|cell|whatsapp|PIN|codice|password|IBAN|CAP|riferimento|ordine|fattura|pratica|protocollo)$/iu,
    abbreviations: (place, language) => one(place) ?? abbreviations(place, language),
    initialisms: "UE OMS BCE IA DNA USB URL API IP ID RCA ADSL IBM OGM ATM UV OCSE AD CEO FBI CD"
  }),
  cardinal,
  ordinal,
  sayOrdinal,
  genderAt,
  point: "virgola",
  sayFraction: fractionInPairs(cardinal),
  year: cardinal,
  months,
  date: dateWith({ cardinal, months, first: "primo", joint: " " }),
  time,
  fraction,
  mixed,
  sayLabel: (digits) => cardinal(digits),
  words: {
    minus: "meno",
    plus: "più",
    to: "a",
    and: "e",
    by: "per",
    of: "di",
    outOf: "su",
    against: "a",
    number: "numero",
    about: "circa",
    squared: "al quadrato",
    cubed: "al cubo",
    square: (unit) => `${unit} quadrat${unit.endsWith("i") ? "i" : "o"}`,
    cubic: (unit) => `${unit} cub${unit.endsWith("i") ? "i" : "o"}`,
    power: powerWith("alla", "meno", cardinal)
  },
  currencies,
  magnitudes,
  ofMagnitude: (noun) => `di ${noun}`,
  units,
  uncertainUnits: new Set("in N J L q".split(" ")),
  per: "per",
  signs,
  operators,
  symbols,
  isCounted: /^(?:passo|parte|pagina|giorno|settimana|episodio|capitolo|domanda|tentativo|lezione)$/iu,
  isLabelled: /^(?:porta|sala|camera|stanza|piano|linea|autobus|bus|binario|posto|fila|scala|interno|via)$/iu,
  isBeforeTime: /^(?:alle|dalle|ore|le|all['’])$/iu,
  isBeforeDate: /^(?:il|del|al|dal|entro|giorno)$/iu,
  telephone: [
    /^0\d{1,3}[ /.-]\d{4,8}$/u,
    /^3\d{2}[ ./-]?\d{6,7}$/u,
    /^3\d{2}(?:[ .]\d{2,4}){2,3}$/u,
    /^0\d{1,3}(?: \d{2,4}){2,3}$/u,
    /^800 ?\d{3} ?\d{3}$/u
  ]
}

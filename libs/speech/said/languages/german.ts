/** German: ordinals decline, "Uhr" stands within times, years below 2000 count in hundreds. */
import { toCardinal, toOrdinal } from "n2words/de-DE"
import { clock } from "../german/clock.ts"
import { street } from "../german/street.ts"
import { declined, ordinalNumber, shortDate, shortMonth } from "../german/ordinal.ts"
import { decade, yearInWords } from "../german/year.ts"
import { germanOpeners } from "../../text/openers.ts"
import { abbreviation } from "../kinds/abbreviation.ts"
import { rowOfDigits, withDigits } from "../kinds/digits.ts"
import { initialism } from "../kinds/initialism.ts"
import { romanNumeral } from "../kinds/roman.ts"
import { weekday } from "../kinds/weekday.ts"
import type { ClockTime, DateParts, Language } from "../language.ts"
import type { Gender } from "../number.ts"
import { currenciesOf, magnitudesOf, nounsOf, tableOf } from "../tables.ts"
import { following, nowhere, type Place, previousCore } from "../word.ts"

const months = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(" ")

/** "eins" alone, "ein" and "eine" before what is counted. */
const cardinal = (digits: string, gender?: Gender): string => {
  if (gender === undefined || Number(digits) !== 1) return toCardinal(digits)
  return gender === "feminine" ? "eine" : "ein"
}

/** The library leaves the million apart. */
const ordinal = (digits: string): string => {
  const bare = digits.replaceAll(/\D/gu, "").replace(/^0+(?=\d)/u, "")
  if (bare === "0") return "nullte"
  if (!/0{6}$/u.test(bare)) return toOrdinal(bare)
  const name = toCardinal(bare)
    .replace(/^eine /u, "")
    .replaceAll(" ", "")
    .toLowerCase()
  return `${name.replace(/en$/u, "").replace(/de$/u, "d")}ste`
}

const year = (digits: string): string => {
  const [century, rest] = [digits.slice(0, -2), digits.slice(-2)]
  if (!/^1[1-9]\d\d$/u.test(digits)) return toCardinal(digits)
  return `${toCardinal(century)}hundert${rest === "00" ? "" : toCardinal(String(Number(rest)))}`
}

const dateOf = ({ day, month, year: written }: DateParts, place: Place = nowhere): string => {
  const name = month === undefined ? undefined : months[month - 1]
  const spokenDay = day === undefined ? undefined : declined(String(day), place, german)
  return [spokenDay, name, written === undefined ? undefined : year(written)].filter((part) => part).join(" ")
}

const halves = { am: "morgens", pm: "nachmittags" }

const time = ({ half, hour, minute = 0, second = 0 }: ClockTime): string => {
  const parts = [`${cardinal(String(hour), "masculine")} Uhr`]
  if (minute > 0 || second > 0) parts.push(toCardinal(minute))
  if (second > 0) parts.push(`und ${cardinal(String(second), "feminine")} ${second === 1 ? "Sekunde" : "Sekunden"}`)
  if (half !== undefined) parts.push(half === "pm" && hour > 5 && hour < 12 ? "abends" : halves[half])
  return parts.join(" ")
}

/** "dritte" makes "Drittel", "zwanzigste" "Zwanzigstel". */
const partOf = (below: string) => {
  const name = ordinal(below).replace(/te$/u, "tel")
  return name.charAt(0).toUpperCase() + name.slice(1)
}

const fraction = (above: string, below: string, gender?: Gender): string => {
  if (below !== "2") return `${cardinal(above, "masculine")} ${partOf(below)}`
  if (above !== "1") return `${toCardinal(above)} halbe`
  return gender === undefined ? "ein halb" : gender === "feminine" ? "eine halbe" : "ein halber"
}

const mixed = (whole: string, above: string, below: string) => {
  if (whole === "0") return fraction(above, below)
  if (above === "1" && below === "2") return `${whole === "1" ? "ein" : toCardinal(whole)}einhalb`
  return `${toCardinal(whole)} ${fraction(above, below)}`
}

const same = (one: string): string => one
const rules = { gender: "masculine", plural: same } as const

const currencies = currenciesOf(
  `
  EUR Euro, Cent; USD Dollar, Cent; AUD australische Dollar, Cent; CAD kanadische Dollar, Cent; NZD neuseeländische Dollar, Cent; HKD Hongkong-Dollar, Cent
  BRL Real/Reais, Centavo/Centavos; MXN mexikanische Pesos, Centavo/Centavos; GBP Pfund, Penny/Pence; CHF Franken, Rappen; JPY Yen; CNY Yuan; INR:f Rupie/Rupien
  SEK:f schwedische Krone/schwedische Kronen; NOK:f norwegische Krone/norwegische Kronen; DKK:f dänische Krone/dänische Kronen; PLN Zloty; KRW Won; RUB Rubel
  TRY Lira; ILS Schekel; BTC Bitcoin; USDC U S D C; ¢ Cent
`,
  rules
)

const magnitudes = magnitudesOf(
  `
  tausend|tsd|k tausend; mio|mill|m|mn|million|millionen Million/Millionen; mrd|bn|milliarde|milliarden Milliarde/Milliarden; bio|billion|billionen Billion/Billionen
`,
  { gender: "feminine", plural: same }
)

const units = nounsOf(
  `
  km Kilometer; m Meter; cm Zentimeter; dm Dezimeter; mm Millimeter; nm Nanometer; µm Mikrometer; μm Mikrometer; ha Hektar; sm:f Seemeile/Seemeilen; mi:f Meile/Meilen; ft Fuß; in Zoll; qm Quadratmeter; qkm Quadratkilometer; cbm Kubikmeter
  kg Kilogramm; g Gramm; mg Milligramm; µg Mikrogramm; μg Mikrogramm; t:f Tonne/Tonnen; lb Pfund; Ztr Zentner
  l Liter; L Liter; ml Milliliter; mL Milliliter; cl Zentiliter; dl Deziliter; hl Hektoliter; EL Esslöffel; TL Teelöffel; Stk Stück; St Stück; Std:f Stunde/Stunden; Min:f Minute/Minuten; Sek:f Sekunde/Sekunden; Pers Personen
  kB Kilobyte; KB Kilobyte; MB Megabyte; GB Gigabyte; TB Terabyte; PB Petabyte; KiB Kibibyte; MiB Mebibyte; GiB Gibibyte; TiB Tebibyte; kbit Kilobit; Mbit Megabit; Gbit Gigabit; Mbps Megabit pro Sekunde/Megabit pro Sekunde; Gbps Gigabit pro Sekunde/Gigabit pro Sekunde
  Hz Hertz; kHz Kilohertz; MHz Megahertz; GHz Gigahertz; ms:f Millisekunde/Millisekunden; µs:f Mikrosekunde/Mikrosekunden; μs:f Mikrosekunde/Mikrosekunden; ns:f Nanosekunde/Nanosekunden; s:f Sekunde/Sekunden; sec:f Sekunde/Sekunden; min:f Minute/Minuten; h:f Stunde/Stunden; d Tag/Tage
  W Watt; kW Kilowatt; MW Megawatt; GW Gigawatt; Wh:f Wattstunde/Wattstunden; kWh:f Kilowattstunde/Kilowattstunden; MWh:f Megawattstunde/Megawattstunden; GWh:f Gigawattstunde/Gigawattstunden; mAh:f Milliamperestunde/Milliamperestunden; V Volt; kV Kilovolt; mV Millivolt; A Ampere; mA Milliampere; Ω Ohm; kΩ Kiloohm; F Farad
  J Joule; kJ Kilojoule; cal:f Kalorie/Kalorien; kcal:f Kilokalorie/Kilokalorien; N Newton; Pa Pascal; kPa Kilopascal; hPa Hektopascal; MPa Megapascal; bar Bar; PS P S; mmHg Millimeter Quecksilbersäule
  km/h Kilometer pro Stunde/Kilometer pro Stunde; m/s Meter pro Sekunde/Meter pro Sekunde; mph:f Meile pro Stunde/Meilen pro Stunde; fps Bild pro Sekunde/Bilder pro Sekunde
  °C Grad Celsius; °F Grad Fahrenheit; ° Grad; ºC Grad Celsius
  % Prozent; ‰ Promille; dB Dezibel; px Pixel; MP Megapixel; ppm P P M; Bp Basispunkt/Basispunkte; mol Mol; lm Lumen; lx Lux; cd Candela
`,
  rules
)

const signs = tableOf(`
  & und; + plus; = gleich; == gleich; != ungleich; ≠ ungleich; ≈ ungefähr; ~ etwa; ± plus minus; × mal; · mal; ÷ geteilt durch
  < kleiner als; > größer als; <= kleiner oder gleich; >= größer oder gleich; ≤ kleiner oder gleich; ≥ größer oder gleich
  √ Wurzel aus; ∞ unendlich; % Prozent; ° Grad; § Paragraf; ¶ Absatz; @ at; # Hashtag; → nach; -> nach; => nach
  © Copyright; $ Dollar; € Euro; £ Pfund; && und; || oder; Ω Ohm; v Version; •; π Pi; §§ Paragrafen; ⌀ Durchmesser; Ø Durchschnitt
`)

const operators = tableOf(`
  + plus; - minus; − minus; * mal; × mal; · mal; / durch; ÷ geteilt durch; : geteilt durch; = gleich; < ist kleiner als; > ist größer als
  <= ist höchstens; >= ist mindestens; ≤ ist höchstens; ≥ ist mindestens; ≠ ist ungleich; ≈ ist ungefähr
`)

const symbols: Language["symbols"] = {
  ...tableOf(`
    . Punkt; @ at; / Schrägstrich; \\ Backslash; - Minus; _ Unterstrich; : Doppelpunkt; , Komma; ? Fragezeichen; ! Ausrufezeichen
    & und; = gleich; + plus; # Raute; % Prozent; ~ Tilde; * Stern; ' Apostroph; " Anführungszeichen; ( Klammer auf; ) Klammer zu; $ Dollar
  `),
  ";": "Semikolon"
}

const abbreviations = abbreviation({
  titles:
    "dr. Doktor; prof. Professor; dipl.-ing. Diplomingenieur; hr. Herr; hrn. Herrn; fr. Frau; st. Sankt; mag. Magister; dir. Direktor; pfr. Pfarrer",
  numbered: `
    nr. Nummer; nrn. Nummern; abb. Abbildung; kap. Kapitel; s. Seite; bd. Band; art. Artikel; abs. Absatz; tel. Telefon; tab. Tabelle; anm. Anmerkung; ziff. Ziffer
    az. Aktenzeichen; hausnr. Hausnummer; art.-nr. Artikelnummer; best.-nr. Bestellnummer; kd.-nr. Kundennummer; re.-nr. Rechnungsnummer; kto. Konto; gl. Gleis; km Kilometer; artikel-nr. Artikelnummer; artikelnr. Artikelnummer; kundennr. Kundennummer; kunden-nr. Kundennummer; rechnungsnr. Rechnungsnummer; rechnungs-nr. Rechnungsnummer; vers. Version
  `,
  inside: `
    z.b. zum Beispiel; d.h. das heißt; u.a. unter anderem; bzw. beziehungsweise; ca. circa; vgl. vergleiche; sog. sogenannte; inkl. inklusive; exkl. exklusive; zzgl. zuzüglich
    ggf. gegebenenfalls; evtl. eventuell; i.d.r. in der Regel; v.a. vor allem; z.t. zum Teil; u.u. unter Umständen; o.g. oben genannte; i.a. im Allgemeinen; bspw. beispielsweise
    max. maximal; min. mindestens; mind. mindestens; etc.pp. et cetera perge perge; einschl. einschließlich; geb. geboren; gest. gestorben; gem. gemäß; lt. laut; rd. rund; vs. versus; abzgl. abzüglich
    z.z. zur Zeit; z.zt. zur Zeit; i.h.v. in Höhe von; u.u. unter Umständen; d.j. dieses Jahres; m.e. meines Erachtens; s.o. siehe oben; s.u. siehe unten; jew. jeweils; insb. insbesondere; zz. zurzeit; bes. besonders
  `,
  perhapsLast: `
    usw. und so weiter; etc. et cetera; u.s.w. und so weiter; usf. und so fort; u.ä. und Ähnliches; o.ä. oder Ähnliches; u.v.m. und vieles mehr; v.chr. vor Christus; n.chr. nach Christus
    str. Straße; tel. Telefon; mio. Millionen; mrd. Milliarden; tsd. tausend; jh. Jahrhundert; jhs. Jahrhunderts; st. Stück; stk. Stück; std. Stunden; min. Minuten; sek. Sekunden; mwst. Mehrwertsteuer
    e.v. E V; a.d. außer Dienst; i.r. im Ruhestand; jr. Junior; sen. Senior; z.hd. zu Händen; a.m. am Main; z.hd. zu Händen; mfg. mit freundlichen Grüßen; b.w. bitte wenden; 1a eins a; kundennr. Kundennummer; kundennr Kundennummer; artikelnr. Artikelnummer;  p.a. pro Jahr; u.a.m. und anderes mehr; gmbh G M B H
  `
})

const rulers = new Set(
  (
    "Ludwig Friedrich Wilhelm Karl Heinrich Otto Franz Joseph Josef Leopold Maximilian Ferdinand Philipp Napoleon Elisabeth Georg Jakob Eduard Richard Johannes Paul Pius Benedikt " +
    "Leo Gregor Innozenz Klemens Urban Julius Katharina Peter Nikolaus Alexander Iwan Gustav Christian Margrethe Harald Albrecht Rudolf Konrad August Ernst Juan Felipe Carl Viktor Emanuel Ramses"
  ).split(" ")
)
const queens = /^(?:Elisabeth|Katharina|Margrethe)$/u

const isLabel =
  /^(?:Kapitel|Teil|Seite|S|Gleis|Platz|Nummer|Nr|Abs|Absatz|Art|Artikel|Klasse|Linie|Bus|Zimmer|Raum|Punkt|Schritt|Stufe|Typ|Version|Band|Folge|Staffel|Runde|Gruppe|Level|Etage|Tor|Kanal|Programm|Phase|Paragraf|Kategorie|Stand|Halle)$/u
/** A capital begins a noun; "Kapitel 1" and "Gleis 1" have their number behind it. */
const genderAt = (place: Place): Gender | undefined => {
  const next = following(place)?.core ?? ""
  if (!/^(?:\p{Lu}\p{Ll}|[ET]L$)/u.test(next) || isLabel.test(previousCore(place))) return undefined
  const isFeminine = /(?:ung|heit|keit|schaft|ion|tät|[^e]e|Person|Nacht|Frau|Hand|Stadt|Art|Uhr|Zahl|Wahl)$/u.test(
    next
  )
  return isFeminine && !/(?:ende|lage|biete|käse|name|junge|kunde|gramme|auge)$/iu.test(next) ? "feminine" : "masculine"
}

const german: Language = {
  decimalMark: ",",
  groupSpace: /[\u00a0\u2009\u202f]/u,
  isMonthFirst: false,
  cardinal,
  ordinal,
  sayOrdinal: () => undefined,
  genderAt,
  point: "Komma",
  sayFraction: (digits) => Array.from(digits, (digit) => toCardinal(digit)).join(" "),
  year,
  months,
  date: dateOf,
  time,
  fraction,
  mixed,
  sayLabel: (digits) => cardinal(digits),
  words: {
    minus: "minus",
    plus: "plus",
    to: "bis",
    and: "und",
    by: "mal",
    against: "zu",
    of: "von",
    outOf: "von",
    number: "Nummer",
    about: "etwa",
    squared: "Quadrat",
    cubed: "hoch drei",
    square: (unit) => `Quadrat${unit.toLowerCase()}`,
    cubic: (unit) => `Kubik${unit.toLowerCase()}`,
    power: (exponent) =>
      `hoch ${exponent.startsWith("-") ? `minus ${toCardinal(exponent.slice(1))}` : toCardinal(exponent)}`
  },
  currencies,
  magnitudes,
  ofMagnitude: (noun) => noun,
  units,
  uncertainUnits: new Set("in d F K N J L t".split(" ")),
  per: "pro",
  signs,
  operators,
  symbols,
  kinds: [
    ordinalNumber,
    shortMonth,
    street,
    withDigits(
      shortDate,
      clock,
      decade,
      yearInWords,
      rowOfDigits(
        /^(?:Tel|Telefon|Handy|Mobil|Fax|BLZ|PIN|TAN|Code|Pincode|Passwort|PLZ|Postleitzahl|IBAN|BIC|Notruf|\p{L}{0,20}(?:nummer|code|kennzahl)|Nr|(?:Kd|Best|Re)\.?-Nr)$/iu
      )
    ),
    romanNumeral({
      rulers,
      ofRuler: (digits, ruler) => {
        const nth = ordinal(digits)
        return `${queens.test(ruler) ? "die" : "der"} ${nth.charAt(0).toUpperCase()}${nth.slice(1)}`
      },
      headings: /^(?:Kapitel|Teil|Band|Akt|Artikel|Klasse|Stufe|Phase|Typ|Abschnitt|Anhang|Buch|Satz)$/u
    }),
    weekday("Mo Montag; Di Dienstag; Mi Mittwoch; Do Donnerstag; Fr Freitag; Sa Samstag; So Sonntag"),
    abbreviations
  ],
  lateKinds: [
    initialism(
      "AOK ADAC EZB EU EWR ICE IC CDU CSU UN USA UKW ARD AG EDV EKG IBM IT KI AI URL API GPU CPU UI IP ID OP AKW ABS EC EM IHK BIP USB LED SAP FAQ AGB ABC CEO CIA FBI OECD OB AUA GEZ EVG PKW LKW KFZ OHG CD IQ UV"
    )
  ],
  isCounted: /^(?:Schritt|Teil|Seite|Tag|Woche|Folge|Runde|Frage|Kapitel|Versuch)$/u,
  startsSentence: (core) => germanOpeners.has(core),
  isLabelled:
    /^(?:Raum|Zimmer|Gleis|Linie|Bus|Gate|Tor|Haus|Wohnung|Platz|Reihe|Sitz|Hausnummer|Straße|\p{Lu}\p{Ll}{2,20}stra(?:ß|ss)e|\p{Lu}\p{Ll}{2,20}weg)$/u,
  isBeforeDate: /^(?:am|vom|zum|bis|ab|seit)$/iu,
  telephone: [/^\(?0\d{1,5}\)?(?:[ /-]{1,3}\d{2,8}){1,5}$/u]
}

export { german }

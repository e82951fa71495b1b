/** French, of France, and of Belgium and Switzerland with "septante" and "nonante". */
import { toCardinal as cardinalInBelgium, toOrdinal as ordinalInBelgium } from "n2words/fr-BE"
import { toCardinal, toOrdinal } from "n2words/fr-FR"
import { abbreviation } from "../kinds/abbreviation.ts"
import type { ClockTime, Language } from "../language.ts"
import { digitByDigit, fractionInPairs, type Gender } from "../number.ts"
import { currenciesOf, magnitudesOf, nounsOf, tableOf } from "../tables.ts"
import { following, type Place, previousCore } from "../word.ts"
import { dateWith, powerWith, romance } from "./romance.ts"

const months = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(" ")

interface Numerals {
  readonly toCardinal: (digits: string) => string
  readonly toOrdinal: (digits: string) => string
}

const feminine =
  /(?:tions?|sions?|tés?|ées?|ettes?|euses?|ances?|ences?|ures?|esses?|ies?|ières?|aines?|elles?|illes?|onnes?|ades?|ises?|trices?|^(?:heures?|minutes?|secondes?|pages?|femmes?|fois|livres?|places?|tonnes?|lignes?|étoiles?|tables?|chambres?|rues?|pièces?|portes?|caisses?|photos?|tasses?|boîtes?|équipes?|écoles?|images?|langues?|marques?|tranches?|pommes?|lettres?|plantes?|cartes?|villes?|mains?|têtes?|roues?|semaines?|personnes?|âmes?|parts?|chaises?|règles?|salles?|étapes?|couleurs?|fleurs?|nuits?|voix|cuillères?|cuillerées?|sœurs?|mères?|lunes?|gares?|bières?))$/u
const masculine =
  /^(?:lycées?|musées?|comités?|étés?|côtés?|trophées?|silences?|incendies?|génies?|mètres?|centimètres?|services?)$/u

/** The gender of the noun behind; "page 1" has its number behind it. */
const genderAt = (place: Place): Gender | undefined => {
  const [previous, next] = [previousCore(place), following(place)?.core ?? ""]
  if (/^(?:page|chapitre|numéro|article|année|ligne|niveau|étape|section|tome|salle|partie)$/iu.test(previous))
    return undefined
  if (!/^\p{Ll}{3,}$/u.test(next)) return undefined
  return feminine.test(next) && !masculine.test(next) ? "feminine" : "masculine"
}

const halves = { am: "du matin", pm: "de l'après-midi" }

const rules = { gender: "masculine" } as const

const currencies = currenciesOf(
  `
  EUR euro, centime; USD dollar, cent; AUD dollar australien/dollars australiens, cent; CAD dollar canadien/dollars canadiens, cent; NZD dollar néo-zélandais/dollars néo-zélandais, cent
  HKD dollar de Hong Kong/dollars de Hong Kong, cent; BRL real/reais, centavo; MXN peso mexicain/pesos mexicains, centavo; GBP:f livre, penny/pence; CHF franc suisse/francs suisses, centime
  JPY yen; CNY yuan; INR:f roupie; SEK:f couronne suédoise/couronnes suédoises; NOK:f couronne norvégienne/couronnes norvégiennes; DKK:f couronne danoise/couronnes danoises
  PLN zloty; KRW won; RUB rouble; TRY:f livre turque/livres turques; ILS shekel; BTC bitcoin; USDC U S D C/U S D C; ¢ cent
`,
  rules
)

const magnitudes = magnitudesOf(
  "mille|k mille/mille; m|mio|million|millions million; md|mds|mrd|milliard|milliards milliard; billion|billions billion",
  rules
)

const units = nounsOf(
  `
  km kilomètre; m mètre; cm centimètre; dm décimètre; mm millimètre; nm nanomètre; µm micromètre; μm micromètre; mi mile; ha hectare; ft pied; in pouce
  kg kilogramme; g gramme; mg milligramme; µg microgramme; μg microgramme; t:f tonne; lb:f livre; oz:f once
  l litre; L litre; ml millilitre; mL millilitre; cl centilitre; cL centilitre; dl décilitre; hl hectolitre
  ko kilooctet; Ko kilooctet; Mo mégaoctet; Go gigaoctet; To téraoctet; Po pétaoctet; kB kilooctet; KB kilooctet; MB mégaoctet; GB gigaoctet; TB téraoctet; Mbps mégabit par seconde/mégabits par seconde; Gbps gigabit par seconde/gigabits par seconde; Mbit mégabit
  Hz hertz/hertz; kHz kilohertz/kilohertz; MHz mégahertz/mégahertz; GHz gigahertz/gigahertz; ms:f milliseconde; µs:f microseconde; ns:f nanoseconde; s:f seconde; sec:f seconde; min:f minute; mn:f minute; h:f heure; j jour
  W watt; kW kilowatt; MW mégawatt; GW gigawatt; Wh watt-heure/watts-heures; kWh kilowatt-heure/kilowatts-heures; MWh mégawatt-heure/mégawatts-heures; TWh térawatt-heure/térawatts-heures; mAh milliampère-heure/milliampères-heures; V volt; kV kilovolt; mV millivolt; A ampère; mA milliampère; Ω ohm
  J joule; kJ kilojoule; cal:f calorie; kcal:f kilocalorie; N newton; Pa pascal; kPa kilopascal; hPa hectopascal; bar bar; ch cheval/chevaux; CV cheval/chevaux
  km/h kilomètre par heure/kilomètres par heure; m/s mètre par seconde/mètres par seconde; mph mile par heure/miles par heure; tr/min tour par minute/tours par minute
  °C degré Celsius/degrés Celsius; ºC degré Celsius/degrés Celsius; °F degré Fahrenheit/degrés Fahrenheit; ° degré; °_C degré Celsius/degrés Celsius
  % pour cent/pour cent; ‰ pour mille/pour mille; dB décibel; px pixel; MP mégapixel; ppm:f partie par million/parties par million; mol mole; lm lumen; hab habitant; pts point
`,
  rules
)

const signs = tableOf(`
  & et; + plus; = égale; == égale; != différent de; ≠ différent de; ≈ environ; ~ environ; ± plus ou moins; × fois; · fois; ÷ divisé par
  < inférieur à; > supérieur à; <= inférieur ou égal à; >= supérieur ou égal à; ≤ inférieur ou égal à; ≥ supérieur ou égal à
  √ racine carrée de; ∞ infini; % pour cent; ° degrés; § paragraphe; ¶ alinéa; @ arobase; # hashtag; → vers; -> vers; => vers
  © copyright; $ dollars; € euros; £ livres; && et; || ou; Ω ohms; v version; •; π pi
`)

const operators = tableOf(`
  + plus; - moins; − moins; * fois; × fois; · fois; / sur; ÷ divisé par; = égale; < est inférieur à; > est supérieur à
  <= est inférieur ou égal à; >= est supérieur ou égal à; ≤ est inférieur ou égal à; ≥ est supérieur ou égal à; ≠ est différent de; ≈ est environ
`)

const symbols = {
  ...tableOf(`
    . point; @ arobase; / barre oblique; \\ barre inverse; - tiret; _ tiret bas; : deux-points; , virgule; ? point d'interrogation; ! point d'exclamation
    & et; = égal; + plus; # dièse; % pour cent; ~ tilde; * astérisque; ' apostrophe; " guillemet; ( parenthèse ouvrante; ) parenthèse fermante; $ dollar
  `),
  ";": "point-virgule"
}

const abbreviations = abbreviation({
  titles: `
    m. Monsieur; mr Monsieur; mm. Messieurs; mme Madame; mmes Mesdames; mlle Mademoiselle; mlles Mesdemoiselles; dr Docteur; dr. Docteur; drs Docteurs; pr Professeur; me Maître; mgr Monseigneur
    st Saint; ste Sainte; prof. Professeur; bd Boulevard; av. Avenue
  `,
  numbered: `
    n° numéro; no numéro; nº numéro; n°s numéros; art. article; chap. chapitre; p. page; pp. pages; vol. volume; fig. figure; tél. téléphone; tél téléphone; port. portable; al. alinéa; ch. chapitre; éd. édition; bât. bâtiment; appt. appartement; réf. référence
  `,
  inside: `
    p.ex. par exemple; ex. exemple; c.-à-d. c'est-à-dire; c.à.d. c'est-à-dire; env. environ; cf. confer; vs contre; vs. contre; bd boulevard; bd. boulevard; av. avenue; r. rue; max. maximum; min. minimum
    tél. téléphone; s.v.p. s'il vous plaît; svp s'il vous plaît; nb. nota bene; p.-s. post-scriptum; dép. département; resp. respectivement; boul. boulevard
  `,
  perhapsLast: `
    etc. et cetera; av.j.-c. avant Jésus-Christ; apr.j.-c. après Jésus-Christ; ap.j.-c. après Jésus-Christ; j.-c. Jésus-Christ; sté société; cie compagnie; cie. compagnie; ttc toutes taxes comprises; ht hors taxes; rdv rendez-vous; r.-v. rendez-vous
    qqn quelqu'un; qqch quelque chose; mdr mort de rire; stp s'il te plaît; bcp beaucoup; jr. junior; hab. habitants
  `
})

const rulers = new Set(
  (
    "Louis François Henri Charles Philippe Napoléon Élisabeth Elisabeth Jean Paul Pie Benoît Léon Grégoire Clément Innocent Urbain Jules Édouard Edouard Georges Jacques Richard Guillaume Catherine Pierre " +
    "Nicolas Alexandre Ivan Frédéric Gustave Albert Léopold Baudouin Victor Emmanuel Robert Hugues Clovis Childebert Clotaire Dagobert Thierry Marie Ferdinand Joseph Felipe Juan Mohammed Hassan Ramsès Sixte Boniface"
  ).split(" ")
)

const words = {
  minus: "moins",
  plus: "plus",
  to: "à",
  and: "et",
  by: "fois",
  of: "sur",
  outOf: "sur",
  against: "à",
  number: "numéro",
  about: "environ",
  squared: "au carré",
  cubed: "au cube",
  square: (unit: string) => `${unit} carré${unit.endsWith("s") ? "s" : ""}`,
  cubic: (unit: string) => `${unit} cube${unit.endsWith("s") ? "s" : ""}`
}

const shared = romance({
  months:
    "janv janvier; jan janvier; févr février; fév février; mar mars; avr avril; juil juillet; sept septembre; oct octobre; nov novembre; déc décembre",
  weekdays: "lun lundi; mar mardi; mer mercredi; jeu jeudi; ven vendredi; sam samedi; dim dimanche",
  roman: {
    rulers,
    ofRuler: (digits) => (digits === "1" ? "premier" : toCardinal(digits)),
    headings: /^(?:chapitre|tome|partie|acte|titre|annexe|type|phase|classe|livre|scène|volume|article)$/iu,
    suffix: /^\d{1,4}(?:er|re|ère|e|è|ème)$/u
  },
  codes: /^(?:tél|téléphone|portable|mobile|PIN|code|IBAN|CP|cedex|référence|réf|commande|facture|dossier)$/iu,
  abbreviations,
  initialisms:
    "UE USA OMS ONG OGM PIB TVA BCE CDI IA EDF RATP RER TER IBM ADN USB URL API IP ID PDG IVG UV OPA AFP AOC INA IUT HEC UMP AMF AG ETI SA UDI OCDE AOP FAI IPC CD"
})

/** "De" loses its vowel before another. */
const ofMagnitude = (noun: string) =>
  /^[aeiouéhy]/iu.test(noun) && !/^yen|^yuan/u.test(noun) ? `d'${noun}` : `de ${noun}`

const cardinalBy =
  ({ toCardinal: read }: Numerals): Language["cardinal"] =>
  (digits, gender) =>
    gender === "feminine" ? read(digits).replace(/un$/u, "une") : read(digits)

const ordinalBy =
  ({ toOrdinal: read }: Numerals): Language["ordinal"] =>
  (digits, gender) => {
    const bare = digits.replace(/^0+(?=\d)/u, "")
    if (bare === "1") return gender === "feminine" ? "première" : "premier"
    return bare === "0" ? "zéroième" : read(bare)
  }

/** "1er", "2e", "3ème", "2nde". */
const sayOrdinalBy =
  (ordinal: Language["ordinal"]) =>
  (core: string): string | undefined => {
    const [, digits, sign = "", many = ""] = /^(\d{1,6})(er|ère|re|ème|eme|me|è|e|nde?)(s?)$/u.exec(core) ?? []
    if (digits === undefined) return undefined
    if (sign.startsWith("nd")) return digits === "2" ? `second${sign.slice(2)}${many}` : undefined
    return `${ordinal(digits, /^[èr]/u.test(sign) && sign !== "è" ? "feminine" : "masculine")}${many}`
  }

const timeBy =
  (cardinal: Language["cardinal"]) =>
  ({ half, hour, minute = 0, second = 0 }: ClockTime): string => {
    const parts = [`${cardinal(String(hour), "feminine")} ${hour < 2 ? "heure" : "heures"}`]
    if (minute > 0 || second > 0) parts.push(cardinal(String(minute), "feminine"))
    if (second > 0) parts.push(`et ${cardinal(String(second), "feminine")} ${second === 1 ? "seconde" : "secondes"}`)
    if (half !== undefined) parts.push(half === "pm" && hour > 5 && hour < 12 ? "du soir" : halves[half])
    return parts.join(" ")
  }

const parts: Readonly<Record<string, string>> = { 2: "demi", 3: "tiers", 4: "quart" }

const frenchOf = (numerals: Numerals): Language => {
  const [cardinal, ordinal] = [cardinalBy(numerals), ordinalBy(numerals)]
  const fraction = (above: string, below: string, gender?: Gender) => {
    const plural = above === "1" || below === "3" ? "" : "s"
    return `${cardinal(above, below === "2" ? gender : undefined)} ${parts[below] ?? ordinal(below)}${plural}`
  }
  const mixed = (whole: string, above: string, below: string, gender?: Gender) => {
    if (whole === "0") return fraction(above, below)
    const half = gender === "feminine" ? "demie" : "demi"
    return `${cardinal(whole, gender)} et ${above === "1" && below === "2" ? half : fraction(above, below)}`
  }
  return {
    ...shared,
    groupSpace: /[ \u00a0\u2009\u202f]/u,
    cardinal,
    ordinal,
    sayOrdinal: sayOrdinalBy(ordinal),
    genderAt,
    point: "virgule",
    sayFraction: fractionInPairs(cardinal),
    year: cardinal,
    months,
    date: dateWith({ cardinal, months, first: "premier", joint: " " }),
    time: timeBy(cardinal),
    fraction,
    mixed,
    sayLabel: (digits) => cardinal(digits),
    words: { ...words, power: powerWith("puissance", "moins", cardinal) },
    currencies,
    magnitudes,
    ofMagnitude,
    units,
    uncertainUnits: new Set("in N J A V j t L".split(" ")),
    per: "par",
    signs,
    operators,
    symbols,
    isCounted: /^(?:étape|partie|page|jour|semaine|épisode|chapitre|question|essai|leçon)$/iu,
    isLabelled: /^(?:porte|salle|chambre|étage|ligne|bus|quai|siège|rang|bâtiment|appartement|rue|voie)$/iu,
    isBeforeDate: /^(?:le|du|au|dès|depuis)$/iu,
    telephone: [/^0\d(?:[ .-]?\d{2}){4}$/u, /^0\d{3}(?:[ .]\d{2}){2,3}$/u, /^0[1-9]00(?: \d{3}){2}$/u],
    // "01 23 45": in pairs.
    sayTelephoneGroup: (digits) => (/^[1-9]\d?$/u.test(digits) ? cardinal(digits) : digitByDigit(digits, { cardinal }))
  }
}

export const french = frenchOf({ toCardinal, toOrdinal })
export const belgian = frenchOf({ toCardinal: cardinalInBelgium, toOrdinal: ordinalInBelgium })

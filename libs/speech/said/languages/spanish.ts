/** Spanish, of Spain and of Mexico, where numbers have points and "$" is the peso. */
import { toCardinal, toOrdinal } from "n2words/es-ES"
import { abbreviation } from "../kinds/abbreviation.ts"
import type { ClockTime, Language } from "../language.ts"
import { fractionInPairs, type Gender } from "../number.ts"
import { currenciesOf, magnitudesOf, nounsOf, tableOf } from "../tables.ts"
import { following, type Place, previousCore } from "../word.ts"
import { changeAfter, dateWith, powerWith, romance } from "./romance.ts"

const months = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(" ")

/** Before a noun "uno" is "un" or "una", and hundreds have its gender, but for those that count millions. */
const cardinal = (digits: string, gender?: Gender): string => {
  const text = toCardinal(digits)
    .replaceAll("dieciseis", "dieciséis")
    .replaceAll(/veintiuno(?= (?:mil|millones|billones))/gu, "veintiún")
    .replaceAll(/uno(?= (?:mil|millones|billones))/gu, "un")
  if (gender === undefined) return text
  if (gender === "masculine") return text.replace(/veintiuno$/u, "veintiún").replace(/uno$/u, "un")
  return changeAfter(text, /(?:ón|ones)(?= |$)/gu, (rest) =>
    rest.replaceAll(/([cn])ientos(?= |$)/gu, "$1ientas").replace(/uno$/u, "una")
  )
}

const ordinal = (digits: string, gender?: Gender): string => {
  const text = digits.length > 6 || digits === "0" ? cardinal(digits) : toOrdinal(digits)
  return gender === "feminine" ? text.replaceAll(/o(?= |$)/gu, "a") : text
}

const determiners = /^(?:el|la|al|del|un|una|su|mi|tu|los|las|este|esta|cada|en|piso|planta|puerta)$/iu

/** "3.º", "1.er", "2ª". "25°" are degrees unless an article stands before. */
const sayOrdinal = (core: string, _: unknown, place: Place): string | undefined => {
  const [, digits, sign = ""] = /^(\d{1,4})\.?(º|ª|°|er|ro|ra|do|da|to|ta|mo|ma|vo|va|no|na|a)$/u.exec(core) ?? []
  if (digits === undefined) return undefined
  const isCounted = determiners.test(previousCore(place)) && !/^[CF]$/u.test(following(place)?.core ?? "")
  if (sign === "°" && !isCounted) return undefined
  if (sign === "º" && /^(?:hacen?|a|de|menos|son|sobre|bajo|unos|los|máxima|mínima)$/iu.test(previousCore(place)))
    return undefined
  const text = ordinal(digits, /a$|ª/u.test(sign) ? "feminine" : "masculine")
  const isShort = sign === "er" || (/^(?:º|°)$/u.test(sign) && genderAt(place) === "masculine")
  return isShort ? text.replace(/(primer|tercer)o$/u, "$1") : text
}

const feminine =
  /(?:as|a|ción|ciones|sión|siones|dad|dades|tud|tudes|^(?:vez|veces|noches?|tardes?|clases?|calles?|partes?|mujer|mujeres|ley|leyes|redes|llaves?|claves?|frases?|fases?|bases?|series?|naves?|imágenes|flor|flores|voz|voces|luz|luces|cruces|órdenes|sedes?|muertes?|veces))$/u
const masculine =
  /^(?:días?|problemas?|sistemas?|temas?|programas?|idiomas?|mapas?|planetas?|climas?|poemas?|kilogramas?|sofás|gramas?|\p{L}{2,20}istas?)$/u
const functionWords =
  /^(?:para|por|con|sin|según|entre|sobre|hasta|desde|como|pero|que|cuando|donde|más|menos|además|mientras|tras|ante|bajo|contra|hacia|era|está|fue|hora|pasa|tiene|llega|otra|una|ganó|cada|ahora|aunque|muestra|explica|sale|será)$/u

/** The gender of the noun behind, or of the article before; "página 1" has its number behind it. */
const genderAt = (place: Place): Gender | undefined => {
  const [previous, next] = [previousCore(place), following(place)?.core ?? ""]
  if (
    /^(?:página|capítulo|número|artículo|año|siglo|nivel|paso|sección|tomo|línea|habitación|planta)$/iu.test(previous)
  )
    return undefined
  if (/^\p{Ll}{3,}$/u.test(next) && !functionWords.test(next))
    return feminine.test(next) && !masculine.test(next) ? "feminine" : "masculine"
  return /^(?:las?|unas)$/iu.test(previous) ? "feminine" : undefined
}

const time = ({ half, hour, minute = 0, second = 0 }: ClockTime): string => {
  const parts = [cardinal(String(hour), "feminine")]
  if (minute > 0) parts.push(minute < 10 ? `cero ${cardinal(String(minute))}` : cardinal(String(minute)))
  if (minute === 0 && hour === 0) parts.push("horas")
  if (second > 0) parts.push(`y ${cardinal(String(second), "masculine")} ${second === 1 ? "segundo" : "segundos"}`)
  if (half === "am") parts.push("de la mañana")
  if (half === "pm") parts.push(hour > 7 && hour < 12 ? "de la noche" : "de la tarde")
  return parts.join(" ")
}

const partOf = (below: string): string => {
  if (below === "2") return "medio"
  if (below === "3") return "tercio"
  if (Number(below) <= 10 || below === "100") return ordinal(below)
  return `${cardinal(below).replaceAll(" ", "")}avo`.replace("aavo", "avo").replace("eavo", "avo")
}

const fraction = (above: string, below: string, gender?: Gender): string => {
  if (above === "1" && below === "2") return gender === "feminine" ? "media" : "medio"
  if (above !== "1" && gender === "feminine" && Number(below) > 2)
    return `${cardinal(above)} ${ordinal(below, gender)}s`
  return `${cardinal(above, "masculine")} ${partOf(below)}${above === "1" ? "" : "s"}`
}

const mixed = (whole: string, above: string, below: string, gender?: Gender) =>
  whole === "0" ? fraction(above, below) : `${cardinal(whole, gender)} y ${fraction(above, below, gender)}`

const rules = {
  gender: "masculine",
  plural: (one: string) => (/[aeiouéáó]$/u.test(one) ? `${one}s` : `${one}es`)
} as const

const currencies = currenciesOf(
  `
  EUR euro, céntimo; USD dólar/dólares, centavo; AUD dólar australiano/dólares australianos, centavo; CAD dólar canadiense/dólares canadienses, centavo
  NZD dólar neozelandés/dólares neozelandeses, centavo; HKD dólar de Hong Kong/dólares de Hong Kong, centavo; BRL real/reales, centavo; MXN peso mexicano/pesos mexicanos, centavo
  GBP:f libra, penique; CHF franco suizo/francos suizos, céntimo; JPY yen/yenes; CNY yuan/yuanes; INR:f rupia; SEK:f corona sueca/coronas suecas; NOK:f corona noruega/coronas noruegas
  DKK:f corona danesa/coronas danesas; PLN esloti/eslotis; KRW won/wones; RUB rublo; TRY:f lira; ILS séquel/séqueles; BTC bitcoin/bitcoins; USDC U S D C/U S D C; ¢ centavo
`,
  rules
)

const magnitudes = magnitudesOf(
  "mil|k mil/mil; m|mm|mio|millón|millones millón/millones; billón|billones|bn billón/billones; mill millón/millones",
  rules
)

const units = nounsOf(
  `
  km kilómetro; m metro; cm centímetro; dm decímetro; mm milímetro; nm nanómetro; µm micrómetro; μm micrómetro; mi:f milla; ha:f hectárea; ft pie; in:f pulgada
  kg kilogramo; g gramo; mg miligramo; µg microgramo; μg microgramo; t:f tonelada; lb:f libra; oz:f onza
  l litro; L litro; ml mililitro; mL mililitro; cl centilitro; dl decilitro; hl hectolitro
  kB kilobyte; KB kilobyte; MB megabyte; GB gigabyte; TB terabyte; PB petabyte; kbps kilobit por segundo/kilobits por segundo; Mbps megabit por segundo/megabits por segundo; Gbps gigabit por segundo/gigabits por segundo
  Hz hercio; kHz kilohercio; MHz megahercio; GHz gigahercio; ms milisegundo; µs microsegundo; ns nanosegundo; s segundo; seg segundo; min minuto; h:f hora; hs:f hora; hrs:f hora
  W vatio; kW kilovatio; MW megavatio; GW gigavatio; Wh vatio hora/vatios hora; kWh kilovatio hora/kilovatios hora; MWh megavatio hora/megavatios hora; mAh miliamperio hora/miliamperios hora; V voltio; kV kilovoltio; mV milivoltio; A amperio; mA miliamperio; Ω ohmio
  J julio; kJ kilojulio; cal:f caloría; kcal:f kilocaloría; N newton/newtons; Pa pascal/pascales; kPa kilopascal; hPa hectopascal/hectopascales; bar bar/bares; CV caballo/caballos; cv caballo/caballos; rpm revolución por minuto/revoluciones por minuto
  km/h kilómetro por hora/kilómetros por hora; m/s metro por segundo/metros por segundo; mph:f milla por hora/millas por hora
  °C grado Celsius/grados Celsius; ºC grado Celsius/grados Celsius; °F grado Fahrenheit/grados Fahrenheit; ° grado; º grado; °_C grado Celsius/grados Celsius; º_C grado Celsius/grados Celsius
  dB decibelio; px píxel/píxeles; MP megapíxel/megapíxeles; ppm parte por millón/partes por millón; mol mol/moles; lm lumen/lúmenes; pts punto; hab habitante; ud:f unidad; uds:f unidad
`,
  rules
)
/** "Uno por ciento": it has no gender. */
const shares = nounsOf("% por ciento/por ciento; ‰ por mil/por mil")

const signs = tableOf(`
  & y; + más; = igual a; == igual a; != distinto de; ≠ distinto de; ≈ aproximadamente; ~ unos; ± más menos; × por; · por; ÷ entre
  < menor que; > mayor que; <= menor o igual que; >= mayor o igual que; ≤ menor o igual que; ≥ mayor o igual que
  √ raíz cuadrada de; ∞ infinito; % por ciento; ° grados; º grados; § sección; ¶ párrafo; @ arroba; # almohadilla; → a; -> a; => a
  © copyright; $ dólares; € euros; £ libras; && y; || o; Ω ohmios; v versión; •; π pi
`)

const operators = tableOf(`
  + más; - menos; − menos; * por; × por; · por; / entre; ÷ entre; = igual a; < es menor que; > es mayor que
  <= es menor o igual que; >= es mayor o igual que; ≤ es menor o igual que; ≥ es mayor o igual que; ≠ es distinto de; ≈ es aproximadamente
`)

const symbols = {
  ...tableOf(`
    . punto; @ arroba; / barra; \\ barra invertida; - guion; _ guion bajo; : dos puntos; , coma; ? interrogación; ! exclamación
    & y; = igual; + más; # almohadilla; % por ciento; ~ virgulilla; * asterisco; ' apóstrofo; " comillas; ( abre paréntesis; ) cierra paréntesis; $ dólar
  `),
  ";": "punto y coma"
}

const abbreviations = abbreviation({
  titles: `
    sr. señor; sra. señora; srta. señorita; sres. señores; dr. doctor; dra. doctora; d. don; dña. doña; d.ª doña; prof. profesor; profa. profesora; ing. ingeniero; lic. licenciado
    arq. arquitecto; gral. general; cap. capitán; sto. santo; sta. santa; s. san; excmo. excelentísimo; ilmo. ilustrísimo; mons. monseñor; fr. fray; hno. hermano
  `,
  numbered: `
    n.º número; nº número; n° número; núm. número; no. número; nro. número; art. artículo; arts. artículos; cap. capítulo; pág. página; págs. páginas; p. página; pp. páginas; vol. volumen
    fig. figura; tel. teléfono; tfno. teléfono; ap. apartado; apdo. apartado; km. kilómetro; sec. sección; ed. edición; máx. máximo; mín. mínimo
  `,
  inside: `
    p.ej. por ejemplo; ej. ejemplo; aprox. aproximadamente; vs. contra; c/ calle; avda. avenida; av. avenida; pza. plaza; ctra. carretera; cf. confróntese; i.e. esto es; e.g. por ejemplo
    s/n sin número; dcha. derecha; izda. izquierda; atte. atentamente; incl. incluido; máx. máximo; mín. mínimo; tel. teléfono; dpto. departamento; depto. departamento; p.d. posdata
  `,
  perhapsLast: `
    etc. etcétera; ee.uu. Estados Unidos; eeuu Estados Unidos; ud. usted; uds. ustedes; vd. usted; s.a. S A; s.l. S L; a.c. antes de Cristo; d.c. después de Cristo; a.m. de la mañana; p.m. de la tarde
    cía. compañía; jr. júnior; hnos. hermanos; min. minutos; seg. segundos; hrs. horas; hs. horas; r.u. Reino Unido; ff.aa. Fuerzas Armadas; jj.oo. Juegos Olímpicos; rr.hh. recursos humanos; cc.aa. comunidades autónomas
  `
})

const rulers = new Set(
  (
    "Felipe Carlos Luis Alfonso Fernando Isabel Juan Pablo Pío Benedicto León Gregorio Clemente Inocencio Urbano Julio Enrique Eduardo Jorge Jacobo Ricardo Guillermo Catalina Pedro Pablo " +
    "Nicolás Alejandro Iván Napoleón Francisco José Federico Gustavo Sancho Jaime Ramiro Alberto Leopoldo Balduino Víctor Manuel Humberto María Sixto Carlota Margarita Haroldo Amadeo"
  ).split(" ")
)
const queens = /^(?:Isabel|Catalina|María|Carlota|Margarita)$/u

/** Up to ten in ordinals, then in cardinals: "Felipe sexto", "Luis catorce". */
const upToTen = (digits: string, gender: Gender) => (Number(digits) <= 10 ? ordinal(digits, gender) : cardinal(digits))

const spanish: Language = {
  ...romance({
    months:
      "ene enero; feb febrero; mar marzo; abr abril; may mayo; jun junio; jul julio; ago agosto; sep septiembre; sept septiembre; oct octubre; nov noviembre; dic diciembre",
    weekdays:
      "lun lunes; mar martes; mié miércoles; mie miércoles; jue jueves; vie viernes; sáb sábado; sab sábado; dom domingo",
    roman: {
      rulers,
      ofRuler: (digits, ruler) => upToTen(digits, queens.test(ruler) ? "feminine" : "masculine"),
      headings:
        /^(?:siglos?|capítulo|tomo|parte|acto|título|anexo|tipo|fase|clase|libro|escena|volumen|apéndice|artículo)$/iu,
      ofHeading: (digits, heading) => (/^siglos?$/iu.test(heading) ? upToTen(digits, "masculine") : cardinal(digits)),
      counted:
        /^(?:guerra|república|congreso|edición|jornadas?|cumbre|dinastía|legislatura|feria|festival|concilio|premios?|concurso|aniversario|foro|plan|copa|internacional)$/iu
    },
    codes:
      /^(?:tel|tfno|teléfono|móvil|celular|whatsapp|PIN|código|clave|contraseña|IBAN|CP|referencia|pedido|factura|expediente)$/iu,
    abbreviations,
    initialisms:
      "UE OMS BCE ADN IA IRPF UGT ONG OCU USB API URL IP ID CEO FBI IBM INSS ERC IU ADSL IPC EAU OCDE ATP UCLA CD UV"
  }),
  cardinal,
  ordinal,
  sayOrdinal,
  genderAt,
  point: "coma",
  sayFraction: fractionInPairs(cardinal),
  year: cardinal,
  months,
  date: dateWith({ cardinal, months, joint: " de " }),
  time,
  fraction,
  mixed,
  sayLabel: (digits) => cardinal(digits),
  words: {
    minus: "menos",
    plus: "más",
    to: "a",
    and: "con",
    by: "por",
    of: "de",
    outOf: "de",
    against: "a",
    number: "número",
    about: "unos",
    squared: "al cuadrado",
    cubed: "al cubo",
    square: (unit) => `${unit} cuadrado${unit.endsWith("s") ? "s" : ""}`,
    cubic: (unit) => `${unit} cúbico${unit.endsWith("s") ? "s" : ""}`,
    power: powerWith("elevado a", "menos", cardinal)
  },
  currencies,
  magnitudes,
  ofMagnitude: (noun) => `de ${noun}`,
  units: new Map([...units, ...shares]),
  uncertainUnits: new Set("in N J L".split(" ")),
  per: "por",
  signs,
  operators,
  symbols,
  isCounted: /^(?:paso|parte|página|día|semana|episodio|capítulo|pregunta|intento|lección)$/iu,
  isLabelled: /^(?:puerta|sala|habitación|planta|línea|autobús|bus|andén|asiento|fila|piso|bloque|calle)$/iu,
  isBeforeTime: /^(?:las?)$/iu,
  isBeforeDate: /^(?:el|del|al|día|desde|hasta)$/iu,
  telephone: [
    /^[67]\d{8}$/u,
    /^[6-9]\d{2}(?:[ .-]\d{3}){2}$/u,
    /^[6-9]\d{2}(?:[ .-]\d{2}){3}$/u,
    /^\(?\d{2,3}\)?[ .-]\d{3,4}[ .-]\d{4}$/u,
    /^9\d(?: \d{3})(?: \d{2}){2}$/u
  ]
}

/** Of the United States, with points before decimals. */
const hispanic: Language = { ...spanish, decimalMark: ".", point: "punto" }

const peso = { one: "peso", many: "pesos", ...rules, part: { one: "centavo", many: "centavos", ...rules } }
const mexican: Language = { ...hispanic, currencies: { ...currencies, $: peso } }

export { hispanic, mexican, spanish }

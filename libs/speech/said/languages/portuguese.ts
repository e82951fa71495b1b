/** Portuguese, of Brazil and of Portugal: numbers between ten and twenty and beyond a thousand million differ. */
import { toCardinal, toOrdinal } from "n2words/pt-PT"
import { abbreviation } from "../kinds/abbreviation.ts"
import type { ClockTime, Language } from "../language.ts"
import { fractionInPairs, type Gender } from "../number.ts"
import { currenciesOf, magnitudesOf, nounsOf, tableOf } from "../tables.ts"
import { following, type Place, previousCore } from "../word.ts"
import { changeAfter, dateWith, powerWith, romance } from "./romance.ts"

const months = "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro".split(" ")

/** "Um" and "dois", and hundreds, have the gender of what they count, but for those that count millions. */
const gendered = (text: string, gender: Gender | undefined): string => {
  if (gender !== "feminine") return text
  return changeAfter(text, /(?:ão|ões)(?= |$)/gu, (rest) =>
    rest
      .replaceAll(/entos(?= |$)/gu, "entas")
      .replaceAll(/um(?= mil|$)/gu, "uma")
      .replaceAll(/dois(?= mil|$)/gu, "duas")
  )
}

const european = (digits: string, gender?: Gender): string =>
  gendered(toCardinal(digits).replace(/^um mil /u, "mil "), gender)

const scales = [
  ["", ""],
  ["bilhão", "bilhões"],
  ["trilhão", "trilhões"]
] as const

/** A thousand million is a "bilhão". */
const brazilian = (digits: string, gender?: Gender): string => {
  const bare = digits.replace(/^0+(?=\d)/u, "")
  const groups = [bare.slice(-9), bare.slice(-12, -9), bare.slice(-15, -12)]
  const parts = groups.flatMap((group, at) => {
    const [one = "", many = ""] = scales[at] ?? []
    if (group === "" || (Number(group) === 0 && bare.length > 9)) return []
    const text = toCardinal(String(Number(group)))
    return [at === 0 ? text : `${text} ${text === "um" ? one : many}`]
  })
  const [rest = ""] = groups
  const isJoined = bare.length > 9 && (Number(rest) < 100 || Number(rest) % 1_000_000 === 0)
  const text = parts.toReversed().join(isJoined ? " e " : " ")
  const ours = text
    .replaceAll("dezasseis", "dezesseis")
    .replaceAll("dezassete", "dezessete")
    .replaceAll("dezanove", "dezenove")
  return gendered(ours, gender)
}

const ordinal = (digits: string, gender?: Gender): string => {
  const text = digits.length > 6 || digits === "0" ? brazilian(digits) : toOrdinal(digits)
  return gender === "feminine" ? text.replaceAll(/o(?= |$)/gu, "a") : text
}

const sayOrdinal = (core: string, _: unknown, place: Place): string | undefined => {
  const [, digits, sign = ""] = /^(\d{1,4})\.?(º|ª|°|o|a)$/u.exec(core) ?? []
  if (digits === undefined) return undefined
  const isCounted = /^(?:o|a|ao|à|do|da|no|na|um|uma|seu|sua|em|os|as)$/iu.test(previousCore(place))
  if (sign === "°" && (!isCounted || /^[CF]$/u.test(following(place)?.core ?? ""))) return undefined
  return ordinal(digits, /a|ª/u.test(sign) ? "feminine" : "masculine")
}

const feminine =
  /(?:as|a|ã|ãs|ção|ções|são|sões|dade|dades|gem|gens|tude|tudes|^(?:vez|vezes|noites?|tardes?|partes?|mulher|mulheres|classes?|fases?|bases?|redes?|chaves?|flor|flores|luz|luzes|cor|cores|mães?|mãos?|vozes|colher|colheres|leis?|nuvens|ordens|mortes?|séries?|frases?|paredes|árvores?))$/u
const masculine =
  /^(?:dias?|problemas?|sistemas?|temas?|programas?|idiomas?|mapas?|planetas?|climas?|poemas?|gramas?|quilogramas?|miligramas?|telegramas?|cinemas?)$/u
const functionWords =
  /^(?:para|por|com|sem|segundo|entre|sobre|até|desde|como|mas|que|quando|onde|mais|menos|era|foi|está|hora|agora|cada|uma|outra|contra|ainda|mostra|já|nas?|das?|pela|pelas|todas)$/u

const genderAt = (place: Place): Gender | undefined => {
  const [previous, next] = [previousCore(place), following(place)?.core ?? ""]
  if (
    /^(?:página|capítulo|número|artigo|ano|século|nível|passo|seção|secção|tomo|linha|sala|fase|parte)$/iu.test(
      previous
    )
  )
    return undefined
  if (/^\p{Ll}{3,}$/u.test(next) && !functionWords.test(next))
    return feminine.test(next) && !masculine.test(next) ? "feminine" : "masculine"
  return /^(?:as|às|das|nas|umas)$/iu.test(previous) ? "feminine" : undefined
}

/** "Às duas", "uma hora e cinco". */
const timeOf =
  (cardinal: Language["cardinal"]) =>
  ({ half, hour, minute = 0, second = 0 }: ClockTime): string => {
    const parts = [`${cardinal(String(hour), "feminine")} ${hour < 2 ? "hora" : "horas"}`]
    if (minute > 0) parts.push(`e ${cardinal(String(minute))}`)
    if (second > 0) parts.push(`e ${cardinal(String(second))} ${second === 1 ? "segundo" : "segundos"}`)
    if (half === "am") parts.push("da manhã")
    if (half === "pm") parts.push(hour > 6 && hour < 12 ? "da noite" : "da tarde")
    return parts.join(" ")
  }

const rules = { gender: "masculine" } as const

const currenciesWith = (part: string, cent: string) =>
  currenciesOf(
    `
  EUR euro, ${cent}; USD dólar/dólares, ${part}; AUD dólar australiano/dólares australianos, ${part}; CAD dólar canadense/dólares canadenses, ${part}; NZD dólar neozelandês/dólares neozelandeses, ${part}
  HKD dólar de Hong Kong/dólares de Hong Kong, ${part}; BRL real/reais, centavo; MXN peso mexicano/pesos mexicanos, centavo; GBP:f libra, pêni/pence; CHF franco suíço/francos suíços, ${cent}
  JPY iene; CNY yuan/yuans; INR:f rupia; SEK:f coroa sueca/coroas suecas; NOK:f coroa norueguesa/coroas norueguesas; DKK:f coroa dinamarquesa/coroas dinamarquesas; PLN zloty/zlotys
  KRW won/wons; RUB rublo; TRY:f lira; ILS shekel/shekels; BTC bitcoin/bitcoins; USDC U S D C/U S D C; ¢ ${part}
`,
    rules
  )

const units = nounsOf(
  `
  km quilômetro; m metro; cm centímetro; dm decímetro; mm milímetro; nm nanômetro; µm micrômetro; μm micrômetro; mi:f milha; ha hectare; ft pé; in:f polegada
  kg quilograma; g grama; mg miligrama; µg micrograma; μg micrograma; t:f tonelada; lb:f libra; oz:f onça
  l litro; L litro; ml mililitro; mL mililitro; cl centilitro; dl decilitro; hl hectolitro
  kB kilobyte; KB kilobyte; MB megabyte; GB gigabyte; TB terabyte; PB petabyte; kbps kilobit por segundo/kilobits por segundo; Mbps megabit por segundo/megabits por segundo; Gbps gigabit por segundo/gigabits por segundo
  Hz hertz/hertz; kHz quilohertz/quilohertz; MHz megahertz/megahertz; GHz gigahertz/gigahertz; ms milissegundo; µs microssegundo; ns nanossegundo; s segundo; seg segundo; min minuto; h:f hora; hs:f hora
  W watt; kW quilowatt; MW megawatt; GW gigawatt; Wh watt-hora/watts-hora; kWh quilowatt-hora/quilowatts-hora; MWh megawatt-hora/megawatts-hora; mAh miliampere-hora/miliamperes-hora; V volt; kV quilovolt; mV milivolt; A ampere; mA miliampere; Ω ohm
  J joule; kJ quilojoule; cal:f caloria; kcal:f quilocaloria; N newton/newtons; Pa pascal/pascais; kPa quilopascal/quilopascais; hPa hectopascal/hectopascais; bar bar/bares; cv cavalo; rpm:f rotação por minuto/rotações por minuto
  km/h quilômetro por hora/quilômetros por hora; m/s metro por segundo/metros por segundo; mph:f milha por hora/milhas por hora
  °C grau Celsius/graus Celsius; ºC grau Celsius/graus Celsius; °F grau Fahrenheit/graus Fahrenheit; ° grau; º grau; °_C grau Celsius/graus Celsius; º_C grau Celsius/graus Celsius
  % por cento/por cento; ‰ por mil/por mil; dB decibel/decibéis; px pixel/pixels; MP megapixel/megapixels; ppm:f parte por milhão/partes por milhão; mol mol/mols; lm lúmen/lúmens; pts ponto
`,
  rules
)

const signs = tableOf(`
  & e; + mais; = igual a; == igual a; != diferente de; ≠ diferente de; ≈ aproximadamente; ~ cerca de; ± mais ou menos; × vezes; · vezes; ÷ dividido por
  < menor que; > maior que; <= menor ou igual a; >= maior ou igual a; ≤ menor ou igual a; ≥ maior ou igual a
  √ raiz quadrada de; ∞ infinito; % por cento; ° graus; º graus; § parágrafo; ¶ parágrafo; @ arroba; # hashtag; → para; -> para; => para
  © copyright; $ dólares; € euros; £ libras; && e; || ou; Ω ohms; v versão; •; π pi
`)

const operators = tableOf(`
  + mais; - menos; − menos; * vezes; × vezes; · vezes; / sobre; ÷ dividido por; = igual a; < é menor que; > é maior que
  <= é menor ou igual a; >= é maior ou igual a; ≤ é menor ou igual a; ≥ é maior ou igual a; ≠ é diferente de; ≈ é aproximadamente
`)

const symbols = {
  ...tableOf(`
    . ponto; @ arroba; / barra; \\ barra invertida; - hífen; _ sublinhado; : dois pontos; , vírgula; ? interrogação; ! exclamação
    & e; = igual; + mais; # cerquilha; % por cento; ~ til; * asterisco; ' apóstrofo; " aspas; ( abre parênteses; ) fecha parênteses; $ cifrão
  `),
  ";": "ponto e vírgula"
}

const abbreviations = abbreviation({
  titles: `
    sr. senhor; sra. senhora; srta. senhorita; srs. senhores; sras. senhoras; dr. doutor; dra. doutora; d. dom; prof. professor; profa. professora; prof.ª professora; eng. engenheiro
    exmo. excelentíssimo; exma. excelentíssima; gal. general; cel. coronel; cap. capitão; sto. santo; sta. santa; s. são; des. desembargador; arq. arquiteto; pe. padre; av. avenida
  `,
  numbered: `
    nº número; n.º número; n° número; no. número; núm. número; art. artigo; arts. artigos; cap. capítulo; pág. página; págs. páginas; p. página; pp. páginas; vol. volume; fig. figura; tel. telefone; cel. celular
    tab. tabela; apto. apartamento; ap. apartamento; ed. edição; inc. inciso; máx. máximo; mín. mínimo
  `,
  inside: `
    p.ex. por exemplo; ex. exemplo; aprox. aproximadamente; vs. versus; av. avenida; r. rua; pça. praça; cf. conforme; i.e. isto é; máx. máximo; mín. mínimo; tel. telefone; depto. departamento
    dpto. departamento; obs. observação; ref. referência; c/ com; s/ sem; p/ para; s/n sem número; att. atenciosamente; jd. jardim; ltda. limitada; cia. companhia
  `,
  perhapsLast: `
    etc. et cetera; eua Estados Unidos; s.a. S A; s/a S A; ltda. limitada; cia. companhia; a.c. antes de Cristo; d.c. depois de Cristo; jr. júnior; min. minutos; seg. segundos; a.m. da manhã; p.m. da tarde; vc você; vcs vocês
  `
})

const rulers = new Set(
  (
    "Pedro João José Manuel Afonso Sebastião Filipe Felipe Carlos Luís Maria Henrique Eduardo Jorge Ricardo Guilherme Isabel Elizabeth Catarina Paulo Pio Bento Leão Gregório Clemente Inocêncio Urbano " +
    "Júlio Nicolau Alexandre Napoleão Francisco Frederico Gustavo Sancho Dinis Fernando Alberto Leopoldo Vítor Humberto Charles Duarte Miguel Teodósio"
  ).split(" ")
)
const queens = /^(?:Maria|Isabel|Elizabeth|Catarina)$/u

const portugueseOf = (
  cardinal: Language["cardinal"],
  of: Pick<Language, "currencies" | "magnitudes" | "units">
): Language => {
  const upToTen = (digits: string, gender: Gender) =>
    Number(digits) <= 10 ? ordinal(digits, gender) : cardinal(digits)
  const partOf = (below: string): string =>
    below === "2"
      ? "meio"
      : below === "3"
        ? "terço"
        : Number(below) <= 10 || below === "100"
          ? ordinal(below)
          : `${cardinal(below)} avo`
  const fraction = (above: string, below: string, gender?: Gender): string => {
    if (above === "1" && below === "2") return gender === "feminine" ? "meia" : "meio"
    return `${cardinal(above)} ${partOf(below)}${above === "1" ? "" : "s"}`
  }
  return {
    ...shared,
    ...romance({
      months:
        "jan janeiro; fev fevereiro; mar março; abr abril; mai maio; jun junho; jul julho; ago agosto; set setembro; out outubro; nov novembro; dez dezembro",
      weekdays: "seg segunda; ter terça; qua quarta; qui quinta; sex sexta; sáb sábado; sab sábado; dom domingo",
      roman: {
        rulers,
        ofRuler: (digits, ruler) => upToTen(digits, queens.test(ruler) ? "feminine" : "masculine"),
        headings:
          /^(?:séculos?|capítulo|tomo|parte|ato|título|anexo|tipo|fase|classe|livro|cena|volume|apêndice|artigo|inciso)$/iu,
        ofHeading: (digits, heading) =>
          /^séculos?$/iu.test(heading) ? upToTen(digits, "masculine") : cardinal(digits),
        counted:
          /^(?:guerra|república|congresso|edição|jornadas?|cúpula|cimeira|dinastia|legislatura|feira|festival|concílio|prêmio|concurso|fórum|copa|encontro|simpósio|internacional)$/iu
      },
      codes:
        /^(?:tel|telefone|celular|telemóvel|whatsapp|PIN|código|senha|IBAN|CEP|CPF|referência|pedido|fatura|protocolo|processo)$/iu,
      abbreviations,
      initialisms: "UE BCE IA ADN DNA IBGE IPTU IPVA INSS IPCA USB URL API IP ID EDP UFRJ IRS IRC IBM FBI SA ATM UV CD"
    }),
    ...of,
    cardinal,
    sayFraction: fractionInPairs(cardinal),
    year: cardinal,
    date: dateWith({ cardinal, months, first: "primeiro", joint: " de " }),
    time: timeOf(cardinal),
    fraction,
    mixed: (whole, above, below, gender) =>
      whole === "0" ? fraction(above, below) : `${cardinal(whole, gender)} e ${fraction(above, below, gender)}`,
    sayLabel: (digits) => cardinal(digits),
    words: {
      ...words,
      power: powerWith("elevado a", "menos", cardinal)
    }
  }
}

const words = {
  minus: "menos",
  plus: "mais",
  to: "a",
  and: "e",
  by: "por",
  of: "de",
  outOf: "de",
  against: "a",
  number: "número",
  about: "cerca de",
  squared: "ao quadrado",
  cubed: "ao cubo",
  square: (unit: string) => `${unit} quadrado${unit.endsWith("s") ? "s" : ""}`,
  cubic: (unit: string) => `${unit} cúbico${unit.endsWith("s") ? "s" : ""}`
}

const shared = {
  ordinal,
  sayOrdinal,
  genderAt,
  point: "vírgula",
  months,
  ofMagnitude: (noun: string) => `de ${noun}`,
  uncertainUnits: new Set("in N J A".split(" ")),
  per: "por",
  signs,
  operators,
  symbols,
  isCounted: /^(?:passo|parte|página|dia|semana|episódio|capítulo|questão|pergunta|tentativa|aula)$/iu,
  isLabelled:
    /^(?:porta|sala|quarto|andar|linha|ônibus|autocarro|plataforma|assento|fila|bloco|apartamento|apto|rua)$/iu,
  isBeforeTime: /^(?:às|as|das)$/iu,
  isBeforeDate: /^(?:dia|em|até|desde|de|no|do|ao)$/iu,
  telephone: [
    /^\(?\d{2}\)? ?9?\d{4}-\d{4}$/u,
    /^(?:9\d|[2-5])\d{3}-\d{4}$/u,
    /^[29]\d{2}(?: \d{3}){2}$/u,
    /^0800(?: \d{3}){2,3}$/u
  ]
} as const satisfies Partial<Language>

/** Brazil writes "quilômetro". */
const inPortugal = (name: string) => name.replaceAll("ômetro", "ómetro").replaceAll("pixel", "píxel")

export const portuguese = portugueseOf(european, {
  currencies: currenciesWith("cêntimo", "cêntimo"),
  magnitudes: magnitudesOf("mil|k mil/mil; m|milhão|milhões milhão/milhões; bilião|biliões bilião/biliões", rules),
  units: new Map(
    Array.from(units, ([sign, noun]) => [sign, { ...noun, one: inPortugal(noun.one), many: inPortugal(noun.many) }])
  )
})

export const brazilianPortuguese = portugueseOf(brazilian, {
  currencies: currenciesWith("centavo", "centavo"),
  magnitudes: magnitudesOf(
    "mil|k mil/mil; m|mi|milhão|milhões milhão/milhões; bi|bn|bilhão|bilhões bilhão/bilhões; tri|trilhão|trilhões trilhão/trilhões",
    rules
  ),
  units
})

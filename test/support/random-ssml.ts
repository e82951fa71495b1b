/** Random SSML: sound, odd and broken documents, deterministic for a seed. */

export interface Dice {
  /** A whole number below `limit`. */
  readonly below: (limit: number) => number
  readonly of: <A>(choices: ReadonlyArray<A>) => A
}

/** Marsaglia's xorshift. */
export const diceOf = (seed: number): Dice => {
  let state = seed | 1
  const below = (limit: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % limit
  }
  return { below, of: (choices) => choices[below(choices.length)] as (typeof choices)[number] }
}

const texts = [
  ..."Hello world. |Dr. No paid $5 & left|&amp; &lt;x&gt; &#x41;|&#0;|&bogus;|今天天气。|😀 family 👩‍👩‍👧‍👦|مرحبا|".split(
    "|"
  ),
  "a".repeat(300),
  "\u0000",
  "\ud83d",
  "  \n\t ",
  "]]>",
  "<![CDATA[raw <b> text]]>",
  "<!-- a comment -->",
  "<?php echo 1 ?>",
  '<!DOCTYPE speak [<!ENTITY a "b">]>&a;'
]
const rates = ["fast", "x-slow", "50%", "+9900%", "-50%", "-51%", "1e9%", "NaN", "", "120"]
const pitches = ["high", "-83%", "+100%", "+5st", "400Hz", "banana"]
const times = ["500ms", "1s", "0s", "-1s", "61s", "1e3s", "half an hour"]
const meanings = ["characters", "date", "ordinal", "cardinal", "telephone", "nothing", ""]

const opened = (dice: Dice): readonly [name: string, attributes: string] =>
  dice.of([
    () => ["prosody", ` rate="${dice.of(rates)}" pitch="${dice.of(pitches)}"`] as const,
    () => ["prosody", ` volume='${dice.of(["loud", "-6dB", "+1000dB", "silent"])}'`] as const,
    () => ["say-as", ` interpret-as="${dice.of(meanings)}"`] as const,
    () => ["sub", ` alias="${dice.of(texts).replaceAll(/["<]/gu, "")}"`] as const,
    () => ["emphasis", ` level="${dice.of(["strong", "none", "?"])}"`] as const,
    () =>
      [
        "phoneme",
        ` alphabet="${dice.of(["ipa", "x-sampa"])}" ph="${dice.of(["ˈkæt", "tSIp", "x1", "t͡ʃa mi", ""])}"`
      ] as const,
    () => ["speechify:style", ` emotion="${dice.of(["angry", "calm", "hungry"])}"`] as const,
    () => [dice.of(["p", "s", "voice", "lang", "speak", "audio", "phoneme", "SPEAK", "s p"]), ""] as const
  ])()

const content = (dice: Dice, depth: number): string => {
  let text = ""
  for (let parts = dice.below(4); parts >= 0; parts--) {
    const kind = dice.below(10)
    if (kind < 5 || depth > 6) text += dice.of(texts)
    else if (kind < 7) text += `<break time="${dice.of(times)}"/>`
    else {
      const [name, attributes] = opened(dice)
      text += `<${name}${attributes}>${content(dice, depth + 1)}</${dice.below(12) === 0 ? "other" : name}>`
    }
  }
  return text
}

/** Mostly whole documents; some are cut off, some have a character too many. */
export const randomSsml = (dice: Dice): string => {
  const whole = `<speak>${content(dice, 0)} word</speak>`
  const fate = dice.below(6)
  const at = dice.below(whole.length)
  if (fate === 0) return whole.slice(0, Math.max(7, at))
  if (fate === 1) return whole.slice(0, at) + dice.of(["<", ">", "&", '"', "\u0007", "</", "\ud800"]) + whole.slice(at)
  return whole
}

/**
 * What the W3C recommendation SSML 1.1 of 7 September 2010 states, section by section, each with a document of our own
 * and what becomes of it.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Style } from "../../../../libs/speech/text/style.ts"
import { faultsOf, read } from "../laws.ts"

const marked = ({ ratePercent, pitchPercent, volumeDb }: Style) => {
  const parts = [ratePercent !== 100 && `rate ${ratePercent}`, pitchPercent !== 100 && `pitch ${pitchPercent}`]
  const all = [...parts, volumeDb !== 0 && `volume ${volumeDb}`].filter((part) => part !== false)
  return all.length === 0 ? "" : `{${all.join(", ")}}`
}

/** The text of each chunk, with `{rate 75}` after a piece of that style, `{IPA}` after phonemes and `[250]` for pauses. */
const spoken = (document: string) =>
  read(document)
    .chunks.map(({ pauseBeforeMs, pauseAfterMs, pieces }) => {
      const texts = pieces.map(({ text, pronunciations = [], ...style }) => {
        const sounds = pronunciations.map(({ ipa }) => `{${ipa}}`).join("")
        return `${text}${sounds}${marked(style)}`
      })
      return `${pauseBeforeMs > 0 ? `[${pauseBeforeMs}]` : ""}${texts.join("")}${pauseAfterMs > 0 ? `[${pauseAfterMs}]` : ""}`
    })
    .join(" / ")

type Followed = readonly [section: string, statement: string, document: string, spoken: string]

const namespace = "http://www.w3.org/2001/10/synthesis"

const followed: ReadonlyArray<Followed> = [
  ["2.2.1", "a document may begin with an XML declaration", `<?xml version="1.0"?><speak>a</speak>`, "a"],
  ["2.2.1", "the declaration may name an encoding", `<?xml version="1.0" encoding="UTF-8"?>\n<speak>a</speak>`, "a"],
  ["2.2.1", "the declaration may be of XML 1.1", `<?xml version="1.1" standalone="yes"?><speak>a</speak>`, "a"],
  ["2.2.1", "the namespace may be the default one", `<speak version="1.1" xmlns="${namespace}">a</speak>`, "a"],
  [
    "2.2.1",
    "a prefix may stand for the namespace",
    `<v:speak xmlns:v="${namespace}">a <v:s>b</v:s></v:speak>`,
    "a / b"
  ],
  ["2.2.1", "a schema may be named", `<speak xmlns:xsi="urn:x" xsi:schemaLocation="${namespace} s.xsd">a</speak>`, "a"],
  ["2.2.1", "comments are not rendered", `<!-- a --><speak>b<!-- c --></speak>`, "b"],
  ["2.2.1", "CDATA is text", `<speak><![CDATA[a <s>]]></speak>`, "a <s>"],
  ["2.2.1", "references stand for their characters", `<speak>&#65;&#x42; &lt;&amp;</speak>`, "AB <&"],
  ["3.1.1", "speak has a version", `<speak version="1.1" xml:lang="en-US">a</speak>`, "a"],
  ["3.1.1", "version 1.0 is read, too", `<speak version="1.0" xml:lang="en-US">a</speak>`, "a"],
  ["3.1.1", "speak says what to do about a language", `<speak onlangfailure="ignorelang">a</speak>`, "a"],
  ["3.1.5", "a meta property is not rendered", `<speak><meta name="seeAlso" content="b"/>a</speak>`, "a"],
  ["3.1.5", "an HTTP header is not rendered", `<speak><meta http-equiv="Expires" content="0"/>a</speak>`, "a"],
  ["3.1.5", "metadata are not rendered", `<speak><metadata>b</metadata>a</speak>`, "a"],
  [
    "3.1.5",
    "metadata may be of any schema",
    `<speak><metadata><r:RDF xmlns:r="urn:r"><r:D c="d"/><break/>b</r:RDF></metadata>a</speak>`,
    "a"
  ],
  ["3.1.7", "p is a paragraph", `<speak><p>One</p><p>two</p></speak>`, "One / two"],
  ["3.1.7", "s is a sentence", `<speak><s>One</s><s>two</s></speak>`, "One / two"],
  ["3.1.7", "sentences may stand in a paragraph", `<speak><p><s>One</s><s>two</s></p></speak>`, "One / two"],
  ["3.1.7", "text without them has its own structure", `<speak>One. Two.</speak>`, "One. / Two."],
  ["3.1.8.1", "token is one word", `<speak><token>New York</token></speak>`, "New York"],
  ["3.1.8.1", "token may have parts", `<speak><token>ho<emphasis level="none">tel</emphasis></token></speak>`, "hotel"],
  ["3.1.8.2", "w is another name for token", `<speak><w role="x:verb">read</w> it</speak>`, "read it"],
  ["3.1.9", "say-as tells what its text is", `<speak><say-as interpret-as="cardinal">12</say-as></speak>`, "twelve"],
  [
    "3.1.9",
    "format tells more about it",
    `<speak><say-as interpret-as="date" format="dmy">3/5/2009</say-as></speak>`,
    "May third, two thousand nine"
  ],
  [
    "3.1.9",
    "an unknown format is as none",
    `<speak><say-as interpret-as="date" format="b">3/5/2009</say-as></speak>`,
    "March fifth, two thousand nine"
  ],
  [
    "3.1.9",
    "an unknown detail is as none",
    `<speak><say-as interpret-as="cardinal" detail="b">12</say-as></speak>`,
    "twelve"
  ],
  ["3.1.10", "ph tells how its text sounds", `<speak><phoneme alphabet="ipa" ph="a">b</phoneme></speak>`, "b{a}"],
  ["3.1.10", "phoneme may have no text", `<speak><phoneme alphabet="ipa" ph="a"/></speak>`, "a{a}"],
  ["3.1.10", "a type of alphabet may be named", `<speak><phoneme ph="a" type="default">b</phoneme></speak>`, "b{a}"],
  ["3.1.11", "alias is spoken instead of its text", `<speak><sub alias="b c">a</sub></speak>`, "b c"],
  ["3.1.12", "lang may be the language of the voice", `<speak><lang xml:lang="en-US">a</lang></speak>`, "a"],
  [
    "3.2.2",
    "emphasis is moderate without a level",
    `<speak><emphasis>a</emphasis></speak>`,
    "a{rate 93, pitch 107, volume 2}"
  ],
  [
    "3.2.2",
    "emphasis may be strong",
    `<speak><emphasis level="strong">a</emphasis></speak>`,
    "a{rate 86, pitch 114, volume 4}"
  ],
  [
    "3.2.2",
    "emphasis may be reduced",
    `<speak><emphasis level="reduced">a</emphasis></speak>`,
    "a{rate 106, pitch 95, volume -3}"
  ],
  ["3.2.2", "the level none adds nothing", `<speak><emphasis level="none">a</emphasis></speak>`, "a"],
  ["3.2.3", "break is medium without attributes", `<speak>a<break/>b</speak>`, "a[500] / b"],
  [
    "3.2.3",
    "strength grows",
    `<speak>a<break strength="x-weak"/>b<break strength="x-strong"/></speak>`,
    "a[100] / b[1400]"
  ],
  ["3.2.3", "the strength none is no pause", `<speak>a <break strength="none"/>b</speak>`, "a b"],
  ["3.2.3", "time is in seconds", `<speak>a<break time="3s"/></speak>`, "a[3000]"],
  ["3.2.3", "or in milliseconds", `<speak>a<break time="250ms"/></speak>`, "a[250]"],
  ["3.2.3", "time comes before strength", `<speak>a<break strength="weak" time="1s"/></speak>`, "a[1000]"],
  ["3.2.4", "pitch may be named", `<speak><prosody pitch="high">a</prosody></speak>`, "a{pitch 125}"],
  ["3.2.4", "pitch may be a change in percent", `<speak><prosody pitch="-10%">a</prosody></speak>`, "a{pitch 90}"],
  ["3.2.4", "pitch may be a change in semitones", `<speak><prosody pitch="+12st">a</prosody></speak>`, "a{pitch 200}"],
  ["3.2.4", "pitch may be a change in hertz", `<speak><prosody pitch="+12Hz">a</prosody></speak>`, "a{pitch 110}"],
  ["3.2.4", "rate may be named", `<speak><prosody rate="slow">a</prosody></speak>`, "a{rate 75}"],
  [
    "3.2.4",
    "rate may be a percentage of its default",
    `<speak><prosody rate="150%">a</prosody></speak>`,
    "a{rate 150}"
  ],
  ["3.2.4", "volume may be named", `<speak><prosody volume="loud">a</prosody></speak>`, "a{volume 5}"],
  ["3.2.4", "volume may be a change in decibels", `<speak><prosody volume="-6dB">a</prosody></speak>`, "a{volume -6}"],
  ["3.2.4", "silent is no sound", `<speak><prosody volume="silent">a</prosody></speak>`, "a{volume -96}"],
  ["3.2.4", "default changes nothing", `<speak><prosody rate="default" pitch="default">a</prosody></speak>`, "a"],
  ["3.2.4", "a value out of reach is limited", `<speak><prosody rate="1%">a</prosody></speak>`, "a{rate 50}"],
  [
    "3.2.4",
    "prosody within prosody adds up",
    `<speak><prosody rate="150%"><prosody rate="50%" volume="+1dB">a</prosody></prosody></speak>`,
    "a{rate 75, volume 1}"
  ],
  ["3.3.2", "mark does not affect the speech", `<speak>a<mark name="m"/>b</speak>`, "ab"]
]

/** The request decides these; the recommendation leaves a processor the choice, or has no listener to tell. */
const readOver: ReadonlyArray<Followed> = [
  ["3.1.2", "xml:lang of the root", `<speak xml:lang="de-DE">a</speak>`, "a"],
  ["3.1.2", "xml:lang of a paragraph", `<speak><p xml:lang="de-DE" onlangfailure="ignorelang">a</p></speak>`, "a"],
  ["3.1.2", "xml:lang of a token", `<speak><w xml:lang="de-DE">a</w></speak>`, "a"],
  ["3.1.3", "xml:base, for nothing is fetched", `<speak xml:base="http://example.org/">a</speak>`, "a"],
  ["3.1.8.1", "role, which chooses among a lexicon's words", `<speak><token role="x:noun">a</token></speak>`, "a"],
  ["3.2.1", "the features of a voice", `<speak><voice gender="female" age="6" variant="2">a</voice></speak>`, "a"],
  ["3.2.1", "the name of a voice", `<speak><voice name="Mike" required="name">a</voice></speak>`, "a"],
  [
    "3.2.1",
    "what to do without such a voice",
    `<speak><voice languages="de" ordering="languages" onvoicefailure="keepexisting">a</voice></speak>`,
    "a"
  ],
  ["3.1.12", "lang without a language", `<speak><lang>a</lang></speak>`, "a"],
  ["3.3.2", "a mark without a name", `<speak>a <mark/>b</speak>`, "a b"],
  ["3.1.7", "a paragraph in a sentence", `<speak><s>a<p>b</p></s></speak>`, "a / b"]
]

const refused: ReadonlyArray<readonly [section: string, statement: string, document: string, message: string]> = [
  ["2.2.1", "a document is well-formed", `<speak>a<p></speak>`, "not well-formed XML"],
  ["2.2.1", "its root is speak", `<?xml version="1.0"?><p>a</p>`, "<speak> is the outermost element"],
  [
    "2.2.1",
    "a document type may be named",
    `<!DOCTYPE speak SYSTEM "a.dtd"><speak>a</speak>`,
    "a document type is not allowed"
  ],
  ["2.2.1", "an instruction may stand in it", `<speak><?a b?>c</speak>`, "a processing instruction is not allowed"],
  ["2.2.1", "a foreign prefix is no SSML", `<v:speak xmlns:v="urn:v">a</v:speak>`, "<v:speak> is not supported"],
  [
    "2.2.4",
    "a foreign element may be rejected",
    `<speak><x:y xmlns:x="urn:x">a</x:y></speak>`,
    "<x:y> is not supported"
  ],
  ["2.2.4", "an attribute must be of its element", `<speak><p name="b">a</p></speak>`, "<p> has no attribute name"],
  ["3.1.1", "speak may begin at a mark", `<speak startmark="b">a</speak>`, "<speak> has no attribute startmark"],
  ["3.1.1", "speak does not hold speak", `<speak><speak>a</speak></speak>`, "<speak> is the outermost element"],
  ["3.1.4", "a lexicon may be named", `<speak><lexicon uri="b" xml:id="c"/>a</speak>`, "<lexicon> is not supported"],
  ["3.1.4", "a lexicon may be looked up", `<speak><lookup ref="c">a</lookup></speak>`, "<lookup> is not supported"],
  ["3.1.5", "meta has content", `<speak><meta name="seeAlso"/>a</speak>`, "<meta> lacks its attribute content"],
  ["3.1.5", "meta is empty", `<speak><meta content="b">c</meta>a</speak>`, "<meta> holds no text"],
  [
    "3.1.9",
    "interpret-as is required",
    `<speak><say-as>12</say-as></speak>`,
    "<say-as> lacks its attribute interpret-as"
  ],
  // The recommendation would have its text spoken; who sends it waits in vain for what they asked.
  [
    "3.1.9",
    "an unknown interpret-as",
    `<speak><say-as interpret-as="b">12</say-as></speak>`,
    `interpret-as "b" is not known`
  ],
  [
    "3.1.9",
    "say-as holds only text",
    `<speak><say-as interpret-as="date"><p>a</p></say-as></speak>`,
    "holds no elements"
  ],
  [
    "3.1.10",
    "ph is required",
    `<speak><phoneme alphabet="ipa">a</phoneme></speak>`,
    "<phoneme> lacks its attribute ph"
  ],
  [
    "3.1.10",
    "an unknown alphabet is an error",
    `<speak><phoneme alphabet="b" ph="c">a</phoneme></speak>`,
    `phoneme alphabet "b"`
  ],
  [
    "3.1.10",
    "phonemes are of their alphabet",
    `<speak><phoneme ph="7">a</phoneme></speak>`,
    `phoneme ph "7" cannot be read`
  ],
  ["3.1.11", "alias is required", `<speak><sub>a</sub></speak>`, "<sub> lacks its attribute alias"],
  ["3.1.11", "sub holds only text", `<speak><sub alias="b"><p>a</p></sub></speak>`, "<sub> holds no elements"],
  ["3.1.13", "an unknown onlangfailure", `<speak onlangfailure="b">a</speak>`, `onlangfailure "b" is not known`],
  ["3.2.2", "an unknown level", `<speak><emphasis level="b">a</emphasis></speak>`, `emphasis level "b" is not known`],
  ["3.2.3", "break is empty", `<speak><break>a</break></speak>`, "<break> holds no text"],
  ["3.2.3", "an unknown strength", `<speak>a<break strength="b"/></speak>`, `break strength "b" is not known`],
  ["3.2.3", "time is not negative", `<speak>a<break time="-1s"/></speak>`, `break time "-1s" is not a time`],
  [
    "3.2.4",
    "pitch may have a contour",
    `<speak><prosody contour="(0%,+1Hz)">a</prosody></speak>`,
    "no attribute contour"
  ],
  ["3.2.4", "text may have a duration", `<speak><prosody duration="1s">a</prosody></speak>`, "no attribute duration"],
  [
    "3.2.4",
    "rate is not negative",
    `<speak><prosody rate="-5">a</prosody></speak>`,
    `prosody rate "-5" cannot be read`
  ],
  ["3.3.1", "audio may be inserted", `<speak><audio src="b.wav">a</audio></speak>`, "<audio> is not supported"],
  ["3.3.2", "mark is empty", `<speak><mark name="m">a</mark></speak>`, "<mark> holds no text"],
  ["3.3.3", "desc describes an audio", `<speak><desc>a</desc></speak>`, "<desc> is not supported"]
]

describe("SSML 1.1", () => {
  it.each(followed)("%s: %s", (_section, _statement, document, words) => assert.strictEqual(spoken(document), words))

  it.each(readOver)("%s: %s is read over", (_section, _statement, document, words) =>
    assert.strictEqual(spoken(document), words)
  )

  it.each(refused)("%s: %s is refused by name", (_section, _statement, document, message) =>
    assert.include(faultsOf(document)[0]?.message, message)
  )
})

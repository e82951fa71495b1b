import { assert, describe, it } from "@effect/vitest"
import { ssmlLimits } from "../../../../libs/speech/ssml/elements.ts"
import { faultsOf } from "../laws.ts"

describe("faulty SSML", () => {
  it.each([
    [`<speak><audio src="/etc/passwd"/></speak>`, "<audio> is not supported", 7],
    [`<speak>a<desc>b</desc></speak>`, "<desc> is not supported", 8],
    [`<speak><voice src="Bob">a</voice></speak>`, "<voice> has no attribute src", 7],
    [`<!DOCTYPE speak><speak>a</speak>`, "a document type", 0],
    [`\ufeff\n<!DOCTYPE speak><speak>a</speak>`, "a document type", 2],
    [`<?xml version="1.0"?>\n<!DOCTYPE speak SYSTEM "a.dtd">\n<speak>a</speak>`, "a document type", 22],
    [`<!-- b --><!DOCTYPE speak><speak>a</speak>`, "a document type", 10],
    [`<!doctype speak><speak>a</speak>`, "not well-formed", 9],
    [`<SPEAK>a</SPEAK>`, "<SPEAK> is not supported; write <speak>", 0],
    [` \n<!-- b -->\n <Speak>a</Speak>`, "<Speak> is not supported; write <speak>", 14],
    [`<?xml version="1.0"?><SPEAK>a</SPEAK>`, "<SPEAK> is not supported", 21],
    [`<?xml version="1.0"?><ssml>a</ssml>`, "<ssml> is not supported", 21],
    [`<?xml version="1.0"?>a`, "text data outside of root node", 22],
    [`<?style a?><speak>a</speak>`, "a processing instruction", 0],
    [`<s:speak xmlns:s="urn:s">a</s:speak>`, "<s:speak> is not supported", 0],
    [`<speak>a <BREAK/></speak>`, "<BREAK> is not supported; write <break>", 9],
    [`<speak><speak>a</speak></speak>`, "<speak> is the outermost", 7],
    [`<speakers>a</speakers>`, "<speakers> is not supported", 0],
    [`<speak>a<break time="soon"/></speak>`, `break time "soon"`, 8],
    [`<speak><break strength="huge"/></speak>`, `break strength "huge"`, 7],
    [`<speak><break>a</break></speak>`, "<break> holds no text", 14],
    [`<speak><sub>a</sub></speak>`, "<sub> lacks its attribute alias", 7],
    [`<speak><sub alias="b"><p>a</p></sub></speak>`, "<sub> holds no elements", 22],
    [`<speak><say-as interpret-as="song">a</say-as></speak>`, `interpret-as "song"`, 7],
    [`<speak><phoneme>a</phoneme></speak>`, "<phoneme> lacks its attribute ph", 7],
    [
      `<speak>a <phoneme ph="kæ7">a</phoneme></speak>`,
      `phoneme ph "kæ7" cannot be read: "7" is no phoneme of the IPA here (character 2)`,
      9
    ],
    [`<speak><phoneme ph="">a</phoneme></speak>`, `phoneme ph "" cannot be read: it has no sound`, 7],
    [`<speak><phoneme alphabet="x-sampa" ph="k#">a</phoneme></speak>`, `"#" is no symbol of X-SAMPA (character 1)`, 7],
    [`<speak><phoneme alphabet="arpabet" ph="K">a</phoneme></speak>`, `phoneme alphabet "arpabet" is not known`, 7],
    [`<speak><phoneme ph="${"a".repeat(401)}">a</phoneme></speak>`, "phoneme ph is longer than 400 characters", 7],
    [`<speak><emphasis level="wild">a</emphasis></speak>`, `emphasis level "wild"`, 7],
    [`<speak><style emotion="bored">a</style></speak>`, `emotion "bored"`, 7],
    [`<speak><style emotion="constructor">a</style></speak>`, `emotion "constructor"`, 7],
    [`<speak><prosody rate="toString">a</prosody></speak>`, "prosody rate", 7],
    [`<speak><?php echo ?>a</speak>`, "a processing instruction", 7],
    [`<speak>a &nbsp; b</speak>`, "& begins no entity", 9],
    [`<speak>a &#0; b</speak>`, "malformed character entity", 13],
    [`<speak>a & b</speak>`, "write &amp;", 9],
    [`<speak>a < b</speak>`, "not well-formed", 11],
    [`<speak>a`, "unclosed tag: speak", 8],
    [`<speak>a</p></speak>`, "not well-formed", 12],
    [`<speak>a</speak>b`, "text data outside of root node", 17],
    [`<speak>a\ud83d</speak>`, "half a surrogate pair", 8],
    [`<speak><sub alias="${"x".repeat(500)}">a</sub></speak>`, "<sub> is longer than 400 characters", 7]
  ])("is refused, with the fault and its offset: %s", (input, message, offset) => {
    const [fault] = faultsOf(input)
    assert.include(fault?.message, message)
    assert.strictEqual(fault?.offset, offset)
  })

  it("is refused with every fault at once, up to ten", () => {
    const faults = faultsOf(`<speak><a/><break time="x"/><prosody rate="y">z</prosody></speak>`)
    assert.deepStrictEqual(
      faults.map(({ offset }) => offset),
      [7, 11, 28]
    )
    assert.strictEqual(faultsOf(`<speak>${"<a/>".repeat(50)}</speak>`).length, ssmlLimits.faultsMax)
  })

  it("is refused when it is a bomb: of entities, of depth, of elements, of silence, of attributes", () => {
    const bomb = `<speak><!DOCTYPE a [<!ENTITY b "${"x".repeat(100)}"><!ENTITY c "&b;&b;&b;">]>&c;&c;</speak>`
    assert.include(faultsOf(bomb)[0]?.message, "doctype")
    const deep = 3_000
    assert.include(
      faultsOf(`<speak>${"<s>".repeat(deep)}a${"</s>".repeat(deep)}</speak>`)[0]?.message,
      "deeper than 20"
    )
    assert.include(
      faultsOf(`<speak>a${`<mark name="m"/>`.repeat(3_000)}</speak>`)[0]?.message,
      "more than 2000 elements"
    )
    assert.include(faultsOf(`<speak>${`<break time="60s"/>`.repeat(11)}</speak>`)[0]?.message, "longer than 600 s")
    const attributes = Array.from({ length: 50 }, (_, index) => ` x:a${index}=""`).join("")
    assert.include(faultsOf(`<speak><p${attributes}>a</p></speak>`)[0]?.message, "too many attributes")
  })
})

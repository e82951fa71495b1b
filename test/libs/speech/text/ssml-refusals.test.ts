import { assert, describe, it } from "@effect/vitest"
import { ssmlLimits } from "../../../../libs/speech/text/index.ts"
import { faultsOf } from "./laws.ts"

describe("SSML is refused", () => {
  it.each([
    [`<speak><audio src="/etc/passwd"/></speak>`, "<audio> is not supported", 7],
    [`<speak>a<desc>b</desc></speak>`, "<desc> is not supported", 8],
    [`<speak><voice name="Bob">a</voice></speak>`, "<voice> has no attribute name", 7],
    [`<speak><speak>a</speak></speak>`, "<speak> is the outermost", 7],
    [`<speakers>a</speakers>`, "<speakers> is not supported", 0],
    [`<speak>a<break time="soon"/></speak>`, `break time "soon"`, 8],
    [`<speak><break strength="huge"/></speak>`, `break strength "huge"`, 7],
    [`<speak><break>a</break></speak>`, "<break> holds no text", 14],
    [`<speak><sub>a</sub></speak>`, "<sub> lacks its attribute alias", 7],
    [`<speak><sub alias="b"><p>a</p></sub></speak>`, "<sub> holds no elements", 22],
    [`<speak><say-as interpret-as="song">a</say-as></speak>`, `interpret-as "song"`, 7],
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
  ])("%s", (input, message, offset) => {
    const [fault] = faultsOf(input)
    assert.include(fault?.message, message)
    assert.strictEqual(fault?.offset, offset)
  })

  it("with every fault at once, up to ten", () => {
    const faults = faultsOf(`<speak><a/><break time="x"/><prosody rate="y">z</prosody></speak>`)
    assert.deepStrictEqual(
      faults.map(({ offset }) => offset),
      [7, 11, 28]
    )
    assert.strictEqual(faultsOf(`<speak>${"<a/>".repeat(50)}</speak>`).length, ssmlLimits.faultsMax)
  })

  it("when it is a bomb: of entities, of depth, of elements, of silence, of attributes", () => {
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

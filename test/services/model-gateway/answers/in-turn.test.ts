import { assert, describe, it } from "@effect/vitest"
import type { AnswerEvent, OpenedPart } from "../../../../services/model-gateway/answers/AnswerEvents.ts"
import { heldCharactersMax } from "../../../../services/model-gateway/answers/call-deltas.ts"
import { inTurn } from "../../../../services/model-gateway/answers/in-turn.ts"
import { lines } from "./event-lines.ts"

const parts: Readonly<Record<string, OpenedPart>> = {
  text: { _tag: "Text" },
  thought: { _tag: "Reasoning" },
  call: { _tag: "ToolCall", id: "a", name: "f" },
  other: { _tag: "ToolCall", id: "b", name: "g" }
}

/** `0 text` opens a part, `0 + words` adds to it, `0 = seal` seals it, `0 .` closes it. */
const eventOf = (said: string): AnswerEvent => {
  const [at = "", does = "", ...rest] = said.split(" ")
  const index = Number(at)
  if (does === "+") return { _tag: "Added", index, text: rest.join(" ") }
  if (does === "=") return { _tag: "Sealed", index, signature: rest.join(" ") }
  if (does === ".") return { _tag: "Closed", index, isCut: false }
  return { _tag: "Opened", index, part: parts[does] ?? { _tag: "Text" } }
}

const ordered = (said: ReadonlyArray<string>) => {
  const order = inTurn()
  return lines(said.map(eventOf).flatMap(order))
}

describe("parts that grow in turns", () => {
  it.each<readonly [string, ReadonlyArray<string>, ReadonlyArray<string>]>([
    [
      "come one after the other, the second whole once the first is closed",
      ["0 call", "1 other", "0 + {", "1 + [", "0 + x", "1 + ]", "1 .", "0 ."],
      ["0 opened ToolCall a f", "0 + {", "0 + x", "0 closed", "1 opened ToolCall b g", "1 + []", "1 closed"]
    ],
    [
      "do not wait for a call whose arguments are whole",
      ["0 call", "1 other", "1 + {", "0 + {}", "1 + }", "0 .", "1 ."],
      ["0 opened ToolCall a f", "0 + {}", "0 closed", "1 opened ToolCall b g", "1 + {", "1 + }", "1 closed"]
    ],
    [
      "wait for arguments that only look whole: a bracket in a text, after an escaped quotation mark",
      ["0 call", "1 other", '0 + {"a":"\\"}', "1 + {}", '0 + "}', "0 .", "1 ."],
      ["0 opened ToolCall a f", '0 + {"a":"\\"}', '0 + "}', "0 closed", "1 opened ToolCall b g", "1 + {}", "1 closed"]
    ],
    [
      "close a text when another part opens, and go on with it in a new one",
      ["0 text", "0 + a", "1 call", "0 + b", "1 + {}", "0 .", "1 ."],
      [
        "0 opened Text",
        "0 + a",
        "0 closed",
        "1 opened ToolCall a f",
        "1 + {}",
        "1 closed",
        "2 opened Text",
        "2 + b",
        "2 closed"
      ]
    ],
    [
      "keep a seal until its thought has its turn",
      ["0 call", "1 thought", "1 + hm", "1 = s1", "1 .", "0 ."],
      ["0 opened ToolCall a f", "0 closed", "1 opened Reasoning", "1 + hm", "1 sealed s1", "1 closed"]
    ],
    [
      "take no space for more of a call that is whole",
      ["0 call", "0 + {}", "1 text", "0 + \n ", "0 .", "1 ."],
      ["0 opened ToolCall a f", "0 + {}", "0 closed", "1 opened Text", "1 closed"]
    ]
  ])("%s", (_, said, expected) => {
    assert.deepStrictEqual(ordered(said), expected)
  })

  it("make no sense where a call continues after its arguments were complete", () => {
    const found = ordered(["0 call", "0 + {}", "1 text", "0 + {}"])
    assert.strictEqual(found.at(-1), "failed a call continues after its arguments were complete")
  })

  it("are held up to a bound, beyond which the answer fails", () => {
    const order = inTurn()
    for (const said of ["0 call", "1 other"]) order(eventOf(said))
    assert.deepStrictEqual(order({ _tag: "Added", index: 1, text: "x".repeat(heldCharactersMax - 1_000) }), [])
    assert.strictEqual(order({ _tag: "Added", index: 1, text: "x".repeat(1_000) })[0]?._tag, "Failed")
  })

  it("are held together up to a bound, however little is in each", () => {
    const order = inTurn()
    const opened = Array.from({ length: 20_000 }, (_, index) => eventOf(`${index} call`))
    assert.isTrue(opened.flatMap(order).some(({ _tag }) => _tag === "Failed"))
  })
})

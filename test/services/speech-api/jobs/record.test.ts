import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  afterChapter,
  afterFailure,
  afterPassage,
  isEnded,
  type JobRecord,
  nextStep,
  restMs
} from "../../../../services/speech-api/jobs/record.ts"

const chapter = (passages: number) => ({
  title: null,
  document: 0,
  characters: passages * 100,
  passages,
  spoken: 0,
  charactersDone: 0,
  samples: 0,
  bytes: null
})
const jobOf = (...passages: ReadonlyArray<number>): JobRecord => ({
  id: "job_1",
  workspace: "default",
  createdAtMs: 0,
  changedAtMs: 0,
  status: "queued",
  title: null,
  audioFormat: "m4b",
  chapters: passages.map(chapter),
  fruitless: 0,
  error: null
})

/** Does what is next, `times` times. */
const worked = (job: JobRecord, times: number): JobRecord => {
  let now = job
  for (let time = 0; time < times; time += 1) {
    const step = nextStep(now)
    if (step._tag === "Done") break
    const { chapter: at } = step
    now =
      step._tag === "Speak"
        ? afterPassage(now, { chapter: at, passage: step.passage, characters: 100, samples: 24_000 })
        : afterChapter(now, at, 1_000)
  }
  return now
}

describe("a job's next step", () => {
  it("is each passage of a chapter, then its files, then the next chapter", () => {
    const steps = Array.from({ length: 6 }, (_, times) => nextStep(worked(jobOf(2, 1), times)))
    assert.deepStrictEqual(steps, [
      { _tag: "Speak", chapter: 0, passage: 0 },
      { _tag: "Speak", chapter: 0, passage: 1 },
      { _tag: "Write", chapter: 0 },
      { _tag: "Speak", chapter: 1, passage: 0 },
      { _tag: "Write", chapter: 1 },
      { _tag: "Done" }
    ])
  })

  const Passages = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 }))).check(
    Schema.isBetweenLength(1, 6)
  )
  it.prop("leads to a completed job with all that its chapters have", [Passages], ([passages]) => {
    const done = worked(jobOf(...passages), 100)
    assert.strictEqual(done.status, "completed")
    for (const one of done.chapters) assert.strictEqual(one.charactersDone, one.characters)
  })
})

describe("a process that works on a job beside another", () => {
  it("changes nothing with a passage or a chapter that is done already", () => {
    const job = worked(jobOf(2, 1), 2)
    assert.strictEqual(afterPassage(job, { chapter: 0, passage: 0, characters: 100, samples: 1 }), job)
    const written = worked(jobOf(2, 1), 3)
    assert.strictEqual(afterChapter(written, 0, 5), written)
  })

  it("changes nothing of a job that has ended", () => {
    const failed = afterFailure(jobOf(1), { code: "voice_not_found", message: "no voice" }, true)
    assert.strictEqual(afterPassage(failed, { chapter: 0, passage: 0, characters: 100, samples: 1 }), failed)
    assert.strictEqual(afterFailure(failed, { code: "other", message: "" }, true), failed)
    assert.deepStrictEqual(nextStep(failed), { _tag: "Done" })
  })
})

describe("a job that goes no further", () => {
  const fault = { code: "upstream_failure", message: "the speech broke off" }
  const failing = (job: JobRecord, times: number): JobRecord =>
    times === 0 ? job : failing(afterFailure(job, fault, false), times - 1)

  it("rests longer and longer, and fails after ten attempts in a row", () => {
    const rests = Array.from({ length: 9 }, (_, at) => restMs(failing(jobOf(1), at + 1)) / 1_000)
    assert.deepStrictEqual(rests, [10, 20, 40, 80, 160, 300, 300, 300, 300])
    assert.isFalse(isEnded(failing(jobOf(1), 9)))
    assert.deepInclude(failing(jobOf(1), 10), { status: "failed", error: fault })
  })

  it("counts anew from each passage that was spoken", () => {
    const further = afterPassage(failing(jobOf(2), 9), { chapter: 0, passage: 0, characters: 1, samples: 1 })
    assert.isFalse(isEnded(failing(further, 9)))
  })
})

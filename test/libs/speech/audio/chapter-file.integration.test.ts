/** Chapter files as an unmodified ffprobe reads them. */
import { execFileSync } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { ffmetadata, writeChapterFile } from "../../../../libs/speech/audio/chapter-file.ts"

const tags = {
  title: "The Letter; part=1 #2 \\ ü",
  album: "A book\\",
  artist: "A. Writer",
  track: [2, 3] as const,
  durationMs: 3_000,
  sections: [
    { title: "What it said", startMs: 1_000 },
    { title: "line\nbreak", startMs: 2_000.4 }
  ]
}

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "starling-chapter-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

const tone = Int16Array.from({ length: 24_000 }, (_, at) => Math.round(8_000 * Math.sin(at / 10)))
const threeSeconds = Stream.fromIterable([tone, tone, tone])

interface Probed {
  readonly chapters: ReadonlyArray<{
    readonly start_time: string
    readonly end_time: string
    readonly tags: { readonly title: string }
  }>
  readonly format: {
    readonly duration: string
    readonly format_name: string
    readonly tags: Readonly<Record<string, string>>
  }
}
const probed = (path: string) =>
  JSON.parse(
    execFileSync("ffprobe", ["-v", "error", "-of", "json", "-show_format", "-show_chapters", path]).toString()
  ) as Probed

describe("a chapter's file", () => {
  for (const format of ["m4b", "mp3"] as const) {
    it.effect(`as ${format} has all of the sound, its titles, and a mark for each section`, () =>
      Effect.gen(function* () {
        const path = yield* writeChapterFile({ format, tags, folder: yield* folder }, threeSeconds, {
          ffmpegPath: "ffmpeg"
        })
        const { chapters, format: read } = probed(path)
        assert.closeTo(Number(read.duration), 3, 0.1)
        assert.deepInclude(read.tags, { title: tags.title, album: "A book\\ ", artist: "A. Writer", track: "2/3" })
        assert.deepStrictEqual(
          chapters.map(({ start_time, tags: { title } }) => [Number(start_time), title]),
          [
            [0, tags.title],
            [1, "What it said"],
            [2, "line\nbreak"]
          ]
        )
        assert.strictEqual(Number(chapters.at(-1)?.end_time), 3)
      })
    )
  }

  it.effect("is not written by a program that is missing, and says which", () =>
    Effect.gen(function* () {
      const failed = yield* Effect.flip(
        writeChapterFile({ format: "mp3", tags, folder: yield* folder }, threeSeconds, { ffmpegPath: "no-such-ffmpeg" })
      )
      assert.strictEqual(failed._tag, "FfmpegMissing")
    })
  )
})

describe("the metadata of a chapter", () => {
  it("begins with the chapter's own title, unless a section begins there", () => {
    const first = { ...tags, sections: [{ title: "Dawn", startMs: 0 }] }
    assert.notInclude(ffmetadata(first).split("[CHAPTER]")[1] ?? "", "Letter")
    assert.include(ffmetadata(tags).split("[CHAPTER]")[1] ?? "", "START=0\nEND=1000")
  })
})

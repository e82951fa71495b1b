/**
 * A chapter of a book as a file that players know: its sound as AAC in an m4b or as mp3, the titles of book and
 * chapter, and a mark where each of its sections begins. One ffmpeg writes it to disk, because an m4b's index is known
 * only at its end, and yields to all that is heard at the moment.
 */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Stream } from "effect"
import { type JobAudioFormat, speechSampleRateHz } from "#speech/contract"
import { EncoderFailed } from "./errors.ts"
import { type FfmpegOptions, startFfmpeg } from "./encoders/ffmpeg-process.ts"

interface Section {
  readonly title: string
  readonly startMs: number
}

export interface ChapterTags {
  readonly title: string
  /** The book, and who wrote it. */
  readonly album: string | undefined
  readonly artist: string | undefined
  /** Which chapter of how many it is; counts from 1. */
  readonly track: readonly [number, number]
  readonly durationMs: number
  /** In order. */
  readonly sections: ReadonlyArray<Section>
}

interface ChapterFile {
  readonly format: JobAudioFormat
  readonly tags: ChapterTags
  /** An existing folder of the caller's own, which is removed by the caller. */
  readonly folder: string
}

export const chapterMediaTypes: Readonly<Record<JobAudioFormat, string>> = { m4b: "audio/mp4", mp3: "audio/mpeg" }

// A voice at 24 kHz gains nothing from more.
const codecs: Readonly<Record<JobAudioFormat, string>> = {
  m4b: "-c:a aac -b:a 64k -movflags +faststart -f ipod",
  mp3: "-c:a libmp3lame -b:a 64k -id3v2_version 3 -f mp3"
}

const niceness = 10

/** Writes the file and returns its path. */
export const writeChapterFile = Effect.fn("writeChapterFile")(function* <E>(
  { format, tags, folder }: ChapterFile,
  pcm: Stream.Stream<Int16Array, E>,
  { ffmpegPath }: Pick<FfmpegOptions, "ffmpegPath">
) {
  const [metadata, path] = [join(folder, "chapters.txt"), join(folder, `chapter.${format}`)]
  yield* Effect.tryPromise({
    try: () => writeFile(metadata, ffmetadata(tags)),
    catch: (cause) => new EncoderFailed({ encoder: format, exitCode: null, lines: [String(cause)] })
  })
  const plan = {
    key: format,
    primeSamples: 0,
    arguments: [
      ..."-nostdin -hide_banner -nostats -loglevel level+error -y -threads 1".split(" "),
      ...`-f s16le -ar ${speechSampleRateHz} -ac 1 -i pipe:0 -f ffmetadata -i`.split(" "),
      `file:${metadata}`,
      ...`-map 0:a -map_metadata 1 -map_chapters 1 ${codecs[format]}`.split(" "),
      `file:${path}`
    ]
  }
  const ffmpeg = yield* Effect.acquireRelease(startFfmpeg(plan, { ffmpegPath, niceness }), ({ kill }) =>
    Effect.sync(kill)
  )
  yield* Stream.runForEach(pcm, (samples) => ffmpeg.write(samples, notHeard))
  yield* ffmpeg.end
  while ((yield* ffmpeg.read) !== null);
  return path
}, Effect.scoped)

const notHeard = { isUrgent: false, bufferedMs: Number.POSITIVE_INFINITY }

/**
 * The format of ffmpeg's `ffmetadata`: five signs are escaped, line breaks too. At the end of a line ffmpeg takes even an
 * escaped backslash for one that joins the next line, so a space follows it.
 */
const escaped = (text: string) =>
  text
    .replaceAll("\0", "")
    .replace(/\\$/u, "\\ ")
    .replaceAll(/[=;#\\\n]/gu, (sign) => `\\${sign}`)

/** A player shows where it is by the last mark before; the first one is the chapter's own title. */
export const ffmetadata = ({ album, artist, durationMs, sections, title, track }: ChapterTags): string => {
  const tag = (name: string, value: string | undefined) => (value === undefined ? [] : [`${name}=${escaped(value)}`])
  const marks = [...(sections[0]?.startMs === 0 ? [] : [{ title, startMs: 0 }]), ...sections]
  return [
    ";FFMETADATA1",
    ...tag("title", title),
    ...tag("album", album),
    ...tag("artist", artist),
    ...tag("genre", "Audiobook"),
    ...tag("track", track.join("/")),
    ...marks.flatMap(({ startMs, title: name }, at) => [
      "[CHAPTER]",
      "TIMEBASE=1/1000",
      `START=${Math.round(startMs)}`,
      `END=${Math.round(marks[at + 1]?.startMs ?? durationMs)}`,
      ...tag("title", name)
    ]),
    ""
  ].join("\n")
}

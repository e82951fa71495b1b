/**
 * Decoding: how ffmpeg is called on a file that may be anything, and the result of its run, a recording or why there is
 * none. Pure.
 */
import type { ContainedRun } from "#runtime"
import { RecordingUnusable } from "../errors.ts"
import { pcmFromBytes } from "../samples.ts"
import { measureLevels, type Recording, recordingHz } from "./recording.ts"

// A decoded share of the announced length below this means that the file's end is missing.
const wholeShareMin = 0.9
const missingSecondsMin = 0.5

export const readDecoded = (run: ContainedRun, name: string): Recording | RecordingUnusable => {
  const unusable = (reason: RecordingUnusable["reason"], detail: string) =>
    new RecordingUnusable({ name, reason, detail })
  const isOutOfMemory = run.exitCode !== 0 && run.stderr.includes("Cannot allocate memory")
  if (run.ending === "wall_time" || run.ending === "cpu_time" || isOutOfMemory) {
    return unusable("too_costly", "decoding it takes more of the machine than a recording may")
  }
  const samples = pcmFromBytes(run.output)
  const seconds = samples.length / recordingHz
  if (run.ending !== "output") {
    if (samples.length === 0) return unusable("not_audio", "it holds no audio that can be decoded here")
    if (run.exitCode !== 0) return unusable("damaged", "it stops being audio in the middle")
    const announced = announcedSeconds(run.stderr)
    if (announced !== null && seconds < announced * wholeShareMin && announced - seconds > missingSecondsMin) {
      return unusable("damaged", `it announces ${announced.toFixed(1)} seconds and has ${seconds.toFixed(1)}`)
    }
  }
  return { samples, seconds, levels: measureLevels(samples, recordingHz) }
}

/** Null when the container has no duration, or ffmpeg guessed it. */
const announcedSeconds = (stderr: string): number | null => {
  if (stderr.includes("Estimating duration from bitrate")) return null
  const [, hours, minutes, rest] = /^ {2}Duration: (\d{1,6}):(\d\d):(\d\d\.\d\d),/mu.exec(stderr) ?? []
  return hours === undefined ? null : Number(hours) * 3_600 + Number(minutes) * 60 + Number(rest)
}

// The demuxers' own names.
const formats = "wav,w64,aiff,caf,mp3,aac,mov,mp4,ogg,matroska,webm,flac,amr,amrnb,amrwb"

const decoders = [
  "pcm_u8,pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_f32le,pcm_f32be,pcm_f64le,pcm_alaw,pcm_mulaw",
  "adpcm_ima_wav,adpcm_ms,adpcm_ima_qt,mp3,mp3float,aac,aac_fixed,alac,flac,vorbis,opus,libopus,amrnb,amrwb",
  "libopencore_amrnb,libopencore_amrwb"
].join(",")

const reading = [
  "-nostdin -hide_banner -loglevel info -nostats",
  `-threads 1 -protocol_whitelist file -format_whitelist ${formats} -codec_whitelist ${decoders}`,
  "-probesize 5000000 -analyzeduration 5000000 -max_streams 32"
]

const writing = [
  "-map 0:a:0 -vn -sn -dn -map_metadata -1 -filter_threads 1",
  `-ac 1 -ar ${recordingHz} -c:a pcm_s16le -f s16le pipe:1`
]

const words = (lines: ReadonlyArray<string>) => lines.join(" ").split(" ")

/**
 * The parameters of ffmpeg for a file that may be anything. Only whole audio containers are opened: a playlist, a list
 * of files, an image sequence or a script of inputs would make ffmpeg open the files that they name. Only audio
 * decoders run, one thread of each; the first audio stream alone is decoded. Pure.
 */
export const decodeParameters = (path: string): ReadonlyArray<string> => [
  ...words(reading),
  "-i",
  // With the protocol before it a name is a name, whatever it begins with.
  `file:${path}`,
  ...words(writing)
]

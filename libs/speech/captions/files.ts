/** The files of captions: WebVTT (W3C) and SubRip. Both are UTF-8. Pure. */
import { type Caption, captionsOf } from "./captions.ts"
import type { Captioned } from "./units.ts"

interface CaptionFile {
  readonly mediaType: string
  /** `speakers`: who speaks each turn of a dialogue. */
  readonly write: (speech: Captioned, speakers?: ReadonlyArray<string>) => string
}

export type CaptionFormat = "srt" | "vtt"

const clock = (ms: number, point: "," | ".") => {
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0")
  const thousandths = String(ms % 1_000).padStart(3, "0")
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}${point}${thousandths}`
}

const times = ({ endMs, startMs }: Caption, point: "," | ".") => `${clock(startMs, point)} --> ${clock(endMs, point)}`

const references: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" }
const escaped = (text: string) => text.replaceAll(/[&<>]/gu, (sign) => references[sign] ?? sign)

export const captionFiles: Readonly<Record<CaptionFormat, CaptionFile>> = {
  vtt: {
    mediaType: "text/vtt; charset=utf-8",
    write: (speech, speakers) => {
      const cues = captionsOf(speech).map((caption) => {
        const speaker = speakers?.[caption.turn]
        const voice = speaker === undefined ? "" : `<v ${escaped(speaker.replaceAll(/\s+/gu, " ").trim())}>`
        return `${times(caption, ".")}\n${voice}${caption.lines.map(escaped).join("\n")}\n`
      })
      return ["WEBVTT\n", ...cues].join("\n")
    }
  },
  srt: {
    mediaType: "application/x-subrip; charset=utf-8",
    write: (speech, speakers) =>
      captionsOf(speech, speakers)
        // It has no escapes, and a reader may look for the arrow of a time.
        .map((caption, at) => `${at + 1}\n${times(caption, ",")}\n${caption.lines.join("\n").replaceAll("-->", "→")}\n`)
        .join("\n")
  }
}

/**
 * The voices of espeak-ng, made so that they sound the same each time. Each voice's file is put together from the
 * installed ones, without the parts that depend on earlier speech: the flutter of the pitch, which goes on where it
 * stopped, and the breath, whose noise comes from the process' one random generator. Roughness is at most espeak-ng's
 * usual one, because the reset after a job finds only its periods of 2 and 4 cycles.
 */
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import koffi, { type LibraryHandle } from "koffi"

/** The path of a voice's file by the voice's name, "de+f2"; `more` are lines for its end. */
type VoiceFiles = (name: string, more: string) => string | undefined

export const makeVoiceFiles = (library: LibraryHandle): VoiceFiles => {
  const installed = findInstalled(library)
  const paths = new Map<string, string>()
  return (name, more) => {
    const key = name + more
    const known = paths.get(key)
    if (known !== undefined) return known
    const texts = installed(name)
    if (texts === undefined) return undefined
    const path = unnamedFile(steadyVoice(texts.language, texts.variant) + more)
    paths.set(key, path)
    return path
  }
}

/** The lines in which a variant replaces the language's own voice. */
const throat = /^(?:pitch|formant|voicing|consonants|echo|tone|clarity|speed|breathw?|flutter|roughness)\b.*$/gmu
const unsteady = /^(?:breathw?|flutter|roughness)\b.*$/gmu
const roughness = /^roughness\s+(\d+)/mu
const usualRoughness = 2

/** One text from the text of the language and, if there is one, of the variant. Pure. */
export const steadyVoice = (language: string, variant?: string): string => {
  const text = variant === undefined ? language : `${language.replace(throat, "")}\n${variant}`
  const rough = Math.min(usualRoughness, Number(roughness.exec(text)?.[1] ?? usualRoughness))
  return `${text.replace(unsteady, "")}\nflutter 0\nroughness ${rough}\n`
}

const findInstalled = (library: LibraryHandle) => {
  const setVoiceByName = library.func("int espeak_SetVoiceByName(const char *)")
  const currentVoice = library.func("void *espeak_GetCurrentVoice()")
  const voiceType = koffi.struct({ name: "const char *", languages: "const char *", identifier: "const char *" })
  const folders: [string] = [""]
  library.func("const char *espeak_Info(_Out_ const char **)")(folders)
  const [folder] = folders
  return (name: string) => {
    const [language = "", variant] = name.split("+")
    if (setVoiceByName(language) !== 0) return undefined
    const { identifier } = koffi.decode(currentVoice() as bigint, voiceType) as { identifier: string }
    const paths = {
      language: ["lang", "voices"].map((kind) => join(folder, kind, identifier)).find((path) => existsSync(path)),
      variant: variant === undefined ? undefined : join(folder, "voices", "!v", variant)
    }
    if (paths.language === undefined) return undefined
    if (paths.variant === undefined) return { language: read(paths.language) }
    return existsSync(paths.variant) ? { language: read(paths.language), variant: read(paths.variant) } : undefined
  }
}

/** Reads byte for byte: not all of these files are UTF-8. */
const read = (path: string) => readFileSync(path, "latin1")

/** The path of a file that no longer has a name: it goes with the thread, however the thread ends. */
const unnamedFile = (text: string): string => {
  const folder = mkdtempSync(join(tmpdir(), "starling-espeak-"))
  try {
    const path = join(folder, "voice")
    writeFileSync(path, text, "latin1")
    return `/dev/fd/${openSync(path, "r")}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Where the host keeps a shared library: the folders of Debian, Fedora, Alpine and what is built by hand. */
import { existsSync } from "node:fs"
import { arch } from "node:os"
import { join } from "node:path"
import { MissingPart } from "./speaker.ts"

const triples: Partial<Record<string, string>> = { x64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" }

const usualFolders = () => {
  const triple = triples[arch()]
  const multiarch = triple === undefined ? [] : [`/usr/lib/${triple}`, `/lib/${triple}`]
  return [...multiarch, "/usr/lib64", "/usr/lib", "/usr/local/lib"]
}

export const findLibrary = (file: string, packages: string, folders: ReadonlyArray<string>): string => {
  const all = [...folders, ...usualFolders()]
  const found = all.map((folder) => join(folder, file)).find((path) => existsSync(path))
  if (found === undefined) throw new MissingPart(packages, `no ${file} in ${all.join(", ")}`)
  return found
}

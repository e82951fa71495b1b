/**
 * Which mutants the compiler takes: it notices the others, and no test has to. Each is checked as a file beside its own that
 * exists only in the compiler's eyes, all in one program.
 */
import { resolve } from "node:path"
import { API } from "typescript/unstable/async"

export interface Copy {
  readonly file: string
  readonly text: string
}

export const compiles = async (
  copies: ReadonlyArray<Copy>,
  originals: ReadonlyArray<Copy>
): Promise<ReadonlyArray<boolean>> => {
  const all = [...originals, ...copies]
  const paths = all.map(({ file }, at) => resolve(file.replace(/\.ts$/u, `.mutant-${at}.ts`)))
  const config = resolve("tsconfig.mutants.json")
  const virtual = new Map(paths.map((path, at) => [path, all[at]?.text ?? ""]))
  virtual.set(config, JSON.stringify({ ...asOurs, files: paths }))
  const api = new API({
    cwd: process.cwd(),
    fs: { readFile: (path) => virtual.get(path), fileExists: (path) => (virtual.has(path) ? true : undefined) }
  })
  try {
    const snapshot = await api.updateSnapshot({ openProjects: [config] })
    const program = snapshot.getProject(config)?.program
    if (program === undefined) throw new Error("the compiler opened no program")
    const faults: Array<number> = []
    for (const path of paths) {
      const [syntactic, semantic] = [
        await program.getSyntacticDiagnostics(path),
        await program.getSemanticDiagnostics(path)
      ]
      faults.push(syntactic.length + semantic.length)
    }
    // A copy may differ from its original, as a class with private fields does: such faults are no mutant's.
    const before = new Map(originals.map(({ file }, at) => [file, faults[at] ?? 0]))
    return copies.map(({ file }, at) => (faults[originals.length + at] ?? 0) <= (before.get(file) ?? 0))
  } finally {
    await api.close()
  }
}

/** Names that nothing uses any more are no reason: a change like a mutant's would take them along. */
const asOurs = {
  extends: "./tsconfig.json",
  compilerOptions: { noUnusedLocals: false, noUnusedParameters: false, incremental: false, plugins: [] },
  include: []
}

/**
 * All regular expressions of a file: its literals, and `new RegExp` of what is constant in the file. Our linter's parser
 * reads them, so that text and comments are not taken for patterns. Pure.
 */
import { parseSync } from "oxc-parser"

export interface Pattern {
  readonly line: number
  readonly source: string
  readonly flags: string
}

/** One that is made from what is known only at run time. */
export interface MadePattern {
  readonly line: number
  /** As it is written. */
  readonly code: string
}

export interface Patterns {
  readonly known: ReadonlyArray<Pattern>
  readonly made: ReadonlyArray<MadePattern>
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

/** Throws where the parser finds no program. */
export const patternsOf = (path: string, text: string): Patterns => {
  const { program, errors } = parseSync(path, text)
  const [error] = errors
  if (error !== undefined) throw new Error(`${path}: ${error.message}`)
  const nodes = nodesIn(program as unknown as Node)
  const constants = constantsIn(nodes)
  const lineAt = (offset: number) => text.slice(0, offset).split("\n").length
  const [known, made]: [Array<Pattern>, Array<MadePattern>] = [[], []]
  for (const node of nodes) {
    const line = lineAt(node.start)
    const literal = node["regex"] as { readonly pattern: string; readonly flags: string } | undefined
    if (node.type === "Literal" && literal) known.push({ line, source: literal.pattern, flags: literal.flags })
    if (!isMaking(node)) continue
    const [source, flags] = (node["arguments"] as ReadonlyArray<Node>).map((given) => textOf(given, constants) ?? null)
    if (source === undefined || source === null || flags === null)
      made.push({ line, code: text.slice(node.start, node.end) })
    else known.push({ line, source, flags: flags ?? "" })
  }
  return { known, made }
}

const nodesIn = (value: unknown, found: Array<Node> = []): ReadonlyArray<Node> => {
  if (typeof value !== "object" || value === null) return found
  if (isNode(value)) found.push(value)
  for (const key in value) nodesIn(value[key as keyof typeof value], found)
  return found
}

const isMaking = ({ type, callee }: Node) =>
  (type === "NewExpression" || type === "CallExpression") && isNode(callee) && callee["name"] === "RegExp"

/** What the constants of the file are, by their names; a name that means something else too is none. */
const constantsIn = (nodes: ReadonlyArray<Node>): ReadonlyMap<string, Node> => {
  const found = new Map<string, Node>()
  const taken = new Set<string>()
  for (const { type, kind, declarations, params } of nodes) {
    for (const { name } of nodesIn(params)) taken.add(String(name))
    if (type !== "VariableDeclaration") continue
    for (const { id, init } of declarations as ReadonlyArray<Record<"id" | "init", unknown>>) {
      const [named, ...others] = nodesIn(id)
      const name = String(named?.["name"])
      if (kind === "const" && named?.type === "Identifier" && isNode(init) && !found.has(name)) found.set(name, init)
      else for (const { name } of [named, ...others].filter(isNode)) taken.add(String(name))
    }
  }
  for (const name of taken) found.delete(name)
  return found
}

/** The text of an expression; undefined where it is known only at run time. */
const textOf = (node: Node, constants: ReadonlyMap<string, Node>): string | undefined => {
  const partsOf = (quasi: Node, form: "raw" | "cooked") => {
    const texts = (quasi["quasis"] as ReadonlyArray<{ readonly value: Record<string, string> }>).map(
      ({ value }) => value[form] ?? ""
    )
    const made = (quasi["expressions"] as ReadonlyArray<Node>).map((each) => textOf(each, constants))
    return made.includes(undefined) ? undefined : texts.map((each, at) => each + (made[at] ?? "")).join("")
  }
  if (node.type === "Literal" && typeof node["value"] === "string") return node["value"]
  if (node.type === "TemplateLiteral") return partsOf(node, "cooked")
  if (node.type === "TaggedTemplateExpression") {
    const { object, property } = node["tag"] as Record<string, { readonly name?: string } | undefined>
    const isRaw = object?.name === "String" && property?.name === "raw"
    return isRaw ? partsOf(node["quasi"] as Node, "raw") : undefined
  }
  if (node.type === "BinaryExpression" && node["operator"] === "+") {
    const [left, right] = [textOf(node["left"] as Node, constants), textOf(node["right"] as Node, constants)]
    return left === undefined || right === undefined ? undefined : left + right
  }
  if (node.type === "CallExpression") return joinedOf(node, constants)
  const constant = node.type === "Identifier" ? constants.get(String(node["name"])) : undefined
  return constant === undefined ? undefined : textOf(constant, constants)
}

/** Of `[…].join("|")`. */
const joinedOf = ({ arguments: given, callee }: Node, constants: ReadonlyMap<string, Node>): string | undefined => {
  const { object, property } = callee as { readonly object?: Node; readonly property?: { readonly name?: string } }
  const list = object?.type === "Identifier" ? constants.get(String(object["name"])) : object
  const [separator] = (given as ReadonlyArray<Node>).map((one) => textOf(one, constants))
  if (property?.name !== "join" || list?.type !== "ArrayExpression" || separator === undefined) return undefined
  const texts = (list["elements"] as ReadonlyArray<Node>).map((one) => textOf(one, constants))
  return texts.includes(undefined) ? undefined : texts.join(separator)
}

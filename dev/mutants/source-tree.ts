/** A parsed file: its nodes with the ones above them. Our linter's parser reads it. Pure. */
import { parseSync } from "oxc-parser"

export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

export interface Visited {
  readonly node: Node
  /** The nearest first. */
  readonly above: ReadonlyArray<Node>
}

export const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as { readonly type?: unknown }).type === "string"

/** All nodes that run, in the order of the text: types are left out. Throws where the parser finds no program. */
export const nodesThatRun = (path: string, text: string): ReadonlyArray<Visited> => {
  const { program, errors } = parseSync(path, text)
  const [error] = errors
  if (error !== undefined) throw new Error(`${path}: ${error.message}`)
  const found: Array<Visited> = []
  visit(program as unknown as Node, [], found)
  return found
}

/** Around values: what they hold runs. All other nodes of TypeScript are types. */
const aroundValues = new Set(["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"])
const typeFields = new Set(["typeAnnotation", "typeArguments", "typeParameters", "returnType", "superTypeArguments"])

const visit = (node: Node, above: ReadonlyArray<Node>, found: Array<Visited>): void => {
  if (node.type.startsWith("TS") && !aroundValues.has(node.type)) return
  if (node.type === "ImportDeclaration" || node["declare"] === true) return
  found.push({ node, above })
  const below = [node, ...above]
  for (const [field, value] of Object.entries(node)) {
    if (typeFields.has(field)) continue
    for (const each of Array.isArray(value) ? value : [value]) if (isNode(each)) visit(each, below, found)
  }
}

/** The innermost function, constant or member with a name that a node lies in. Empty at the top of a file. */
export const placeOf = (above: ReadonlyArray<Node>): string => {
  for (const [at, node] of above.entries()) {
    const name = nameOf(node, above[at + 1])
    if (name !== undefined) return name
  }
  return ""
}

const functions = new Set(["ArrowFunctionExpression", "FunctionExpression", "FunctionDeclaration"])

const nameOf = (node: Node, parent: Node | undefined) => {
  if (node.type === "FunctionDeclaration") return identifier(node["id"])
  if (node.type === "VariableDeclarator" && parent?.type === "VariableDeclaration") return identifier(node["id"])
  if (node.type === "MethodDefinition" || node.type === "PropertyDefinition") return identifier(node["key"])
  if (node.type === "Property" && isNode(node["value"]) && functions.has(node["value"].type))
    return identifier(node["key"])
  return undefined
}

const identifier = (value: unknown) =>
  isNode(value) && value.type === "Identifier" ? String(value["name"]) : undefined

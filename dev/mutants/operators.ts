/** What is changed in a file to make its mutants, node by node. Pure. */
import type { Edit, Mutant } from "./mutant.ts"
import { mutantAt } from "./mutant.ts"
import { isNode, type Node, nodesThatRun, placeOf, type Visited } from "./source-tree.ts"

/** The mutants of a file, in the order of its text, each once. */
export const mutantsOf = (file: string, text: string): ReadonlyArray<Mutant> => {
  const found = new Map<string, Mutant>()
  for (const visited of nodesThatRun(file, text)) {
    for (const [operator, change] of Object.entries(operators)) {
      for (const edit of change(visited, text)) {
        const key = `${edit.start} ${edit.end} ${edit.text}`
        if (text.slice(edit.start, edit.end) === edit.text || found.has(key)) continue
        found.set(key, mutantAt(file, text, { operator, place: placeOf(visited.above), edit }))
      }
    }
  }
  return [...found.values()].toSorted((one, other) => one.edit.start - other.edit.start)
}

type Change = (visited: Visited, text: string) => ReadonlyArray<Edit>

const replaced = ({ start, end }: Node, text: string): Edit => ({ start, end, text })
const codeOf = ({ start, end }: Node, text: string) => text.slice(start, end)
const child = (node: Node, field: string) => node[field] as Node
const children = (node: Node, field: string) => (node[field] as ReadonlyArray<Node | null>).filter(isNode)

/** The operator between two sides, which may stand at the end of a line. */
const between = (node: Node, text: string, put: string): Edit => {
  const [{ end }, { start }] = [child(node, "left"), child(node, "right")]
  const at = text.indexOf(String(node["operator"]), end)
  const isBehind = at === -1 || at >= start
  return isBehind
    ? replaced(node, codeOf(node, text))
    : { start: at, end: at + String(node["operator"]).length, text: put }
}

const swaps =
  (types: ReadonlyArray<string>, table: Readonly<Record<string, string>>): Change =>
  ({ node }, text) => {
    const put = types.includes(node.type) ? table[String(node["operator"])] : undefined
    return put === undefined ? [] : [between(node, text, put)]
  }

const isOneOf = (node: Node | undefined, ...types: ReadonlyArray<string>) =>
  node !== undefined && types.includes(node.type)

/** One of two sides in place of both. */
const oneSide =
  (...signs: ReadonlyArray<string>): Change =>
  ({ node }, text) =>
    node.type === "LogicalExpression" && signs.includes(String(node["operator"]))
      ? [child(node, "left"), child(node, "right")].map((side) => replaced(node, grouped(side, text)))
      : []

const plain = ["Identifier", "MemberExpression", "CallExpression", "Literal", "TemplateLiteral", "ObjectExpression"]
const grouped = (node: Node, text: string) =>
  plain.includes(node.type) ? codeOf(node, text) : `(${codeOf(node, text)})`

const negated: Change = ({ node }, text) => {
  if (!isOneOf(node, "IfStatement", "ConditionalExpression", "WhileStatement")) return []
  const test = child(node, "test")
  return isEquality(test) ? [] : [replaced(test, `!(${codeOf(test, text)})`)]
}
const isEquality = (node: Node) => node.type === "BinaryExpression" && /^[!=]==?$/u.test(String(node["operator"]))

/** What the compiler learned from the condition it still knows. */
const decided: Change = ({ node }, text) => {
  const test = node.type === "IfStatement" ? child(node, "test") : undefined
  if (test !== undefined) return ["|| true", "&& false"].map((put) => replaced(test, `(${codeOf(test, text)}) ${put}`))
  if (node.type !== "ConditionalExpression") return []
  return ["consequent", "alternate"].map((side) => replaced(node, `(${codeOf(child(node, side), text)})`))
}

/** `yield* …` or `await …` whose result nothing takes; not what is told to a log. */
const isUnboundEffect = (node: Node | undefined, text: string): node is Node => {
  if (node?.type !== "ExpressionStatement") return false
  const expression = child(node, "expression")
  if (!isOneOf(expression, "YieldExpression", "AwaitExpression")) return false
  return !isWords(codeOf(child(expression, "argument"), text))
}
/** Words for who reads a log, a trace or a page. */
const isWords = (code: string) =>
  /^(?:Effect\.(?:log|with(?:Span|LogSpan))|describe\(|[A-Z]\w*\.(?:annotate|with(?:Description|ShortDescription|Metavar|Examples)))/u.test(
    code
  )

const droppedEffect: Change = ({ node, above: [parent] }, text) =>
  isUnboundEffect(node, text) ? [replaced(node, emptyIn(parent))] : []

const droppedCall: Change = ({ node, above: [parent] }) => {
  const isCall = node.type === "ExpressionStatement" && isOneOf(child(node, "expression"), "CallExpression")
  return isCall ? [replaced(node, emptyIn(parent))] : []
}

const blocks = ["BlockStatement", "Program", "SwitchCase"]
const emptyIn = (parent: Node | undefined) => (isOneOf(parent, ...blocks) ? "" : "{}")

/** Two statements side by side, at least one of them an effect, where the second takes nothing of the first. */
const swappedOrder: Change = ({ node }, text) => {
  if (node.type !== "BlockStatement") return []
  const statements = children(node, "body")
  return statements.flatMap((first, at) => {
    const second = statements[at + 1]
    if (second === undefined || ![first, second].every((each) => isEffect(each))) return []
    if (![first, second].some((each) => isUnboundEffect(each, text))) return []
    const taken = new Set(namesIn(second))
    if (namesOf(first).some((name) => taken.has(name))) return []
    const middle = text.slice(first.end, second.start)
    return [{ start: first.start, end: second.end, text: codeOf(second, text) + middle + codeOf(first, text) }]
  })
}

const isEffect = (node: Node) => {
  const declared =
    node.type === "VariableDeclaration" ? children(node, "declarations")[0]?.["init"] : node["expression"]
  return isNode(declared) && isOneOf(declared, "YieldExpression", "AwaitExpression")
}

const namesOf = (node: Node): ReadonlyArray<string> =>
  node.type === "VariableDeclaration" ? children(node, "declarations").flatMap((each) => namesIn(each["id"])) : []

const namesIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null) return []
  if (isNode(value) && value.type === "Identifier") return [String(value["name"])]
  return Object.values(value).flatMap(namesIn)
}

/** A step of a pipe, as `Effect.tap(…)`, that changes no type. */
const droppedStep: Change = ({ node }, text) => {
  if (node.type !== "CallExpression") return []
  const callee = child(node, "callee")
  if (!isMember(callee, "pipe")) return []
  const steps = children(node, "arguments")
  return steps.flatMap((step, at) => {
    if (isWords(codeOf(step, text))) return []
    if (steps.length === 1) return [{ start: child(callee, "object").end, end: node.end, text: "" }]
    const next = steps[at + 1]
    const [start, end] = next ? [step.start, next.start] : [steps[at - 1]?.end ?? step.start, step.end]
    return [{ start, end, text: "" }]
  })
}

const isMember = (node: Node, ...names: ReadonlyArray<string>) =>
  node.type === "MemberExpression" &&
  node["computed"] !== true &&
  names.includes(String(child(node, "property")["name"]))

const moved: Change = ({ node, above }, text) => {
  if (node.type !== "Literal" || isAdjacent(node, above)) return []
  const code = codeOf(node, text)
  if (typeof node["value"] === "bigint") return [replaced(node, `${node["value"] + 1n}n`)]
  if (typeof node["value"] !== "number") return []
  return [replaced(node, Number.isInteger(node["value"]) ? String(node["value"] + 1) : `(${code} + 1)`)]
}

/** Another value of these makes no difference that anybody asks for. */
const unasked = ["concurrency", "buckets", "discard"]

const isAdjacent = (node: Node, [parent, above]: ReadonlyArray<Node>) => {
  const property = parent?.type === "ArrayExpression" ? above : parent
  if (property?.type !== "Property" || property["computed"] === true) return false
  const key = child(property, "key")
  return key === node || unasked.includes(String(key["name"]))
}

const flipped: Change = ({ node, above }) =>
  node.type === "Literal" && typeof node["value"] === "boolean" && !isAdjacent(node, above)
    ? [replaced(node, String(!node["value"]))]
    : []

const callOf = (node: Node, ...names: ReadonlyArray<string>) =>
  node.type === "CallExpression" && isMember(child(node, "callee"), ...names) ? child(node, "callee") : undefined

const droppedFilter: Change = ({ node }) => {
  const callee = callOf(node, "filter")
  return callee === undefined ? [] : [{ start: child(callee, "object").end, end: node.end, text: "" }]
}

const lists = ["map", "flatMap", "filter", "toSorted", "slice", "concat"]

const emptied: Change = ({ node }) => {
  const given =
    node.type === "ReturnStatement"
      ? node["argument"]
      : node.type === "ArrowFunctionExpression"
        ? node["body"]
        : undefined
  if (!isNode(given)) return []
  const isList = given.type === "ArrayExpression" ? children(given, "elements").length > 0 : callOf(given, ...lists)
  return isList ? [replaced(given, "[]")] : []
}

const otherExtreme: Change = ({ node }) => {
  const callee = callOf(node, "min", "max")
  if (callee === undefined || child(callee, "object")["name"] !== "Math") return []
  const property = child(callee, "property")
  return [replaced(property, property["name"] === "min" ? "max" : "min")]
}

const operators: Readonly<Record<string, Change>> = {
  boundary: swaps(["BinaryExpression"], { "<": "<=", "<=": "<", ">": ">=", ">=": ">" }),
  equality: swaps(["BinaryExpression"], { "===": "!==", "!==": "===" }),
  negation: negated,
  "one side": oneSide("&&", "||"),
  decided,
  "no default": oneSide("??"),
  sum: swaps(["BinaryExpression", "AssignmentExpression"], {
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "+=": "-=",
    "-=": "+="
  }),
  number: moved,
  truth: flipped,
  extreme: otherExtreme,
  "no effect": droppedEffect,
  "no call": droppedCall,
  order: swappedOrder,
  "no step": droppedStep,
  "no filter": droppedFilter,
  "empty list": emptied
}

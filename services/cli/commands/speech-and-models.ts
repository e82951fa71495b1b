/** `say`: the running fleet speaks. `lexicons`: how words are spoken. `speech`: how it speaks. `models`: what is sold. `pay`: a paid model call. `payer`, `agents`: the same for programs. */
import { Argument, Command, Flag } from "effect/cli"
import {
  decimal,
  file,
  json,
  ofList,
  orUndefined,
  running,
  text,
  texts,
  toggle,
  wholeNumber,
  word,
  words
} from "../flags.ts"

export const say = Command.make(
  "say",
  {
    words: words("text", "the text to speak, or - for standard input"),
    file: file("file", "say what is in a file"),
    out: file("out", "write the sound to a file, by its ending .mp3 .ogg .aac .flac .wav .pcm .ulaw .alaw").pipe(
      Flag.withAlias("o")
    ),
    format: text("format", "NAME", "the file's format where its ending does not say it, such as mp3_24000_128"),
    voice: text("voice", "ID", "who speaks; list shows all of them"),
    voices: toggle("voices", "list who can speak"),
    language: text("language", "TAG", "the language of the text, such as de-DE"),
    model: text("model", "NAME", "the model that speaks"),
    lexicon: texts(
      "lexicon",
      "NAME",
      "a lexicon with pronunciations, repeatable; default: those stored with --default"
    ),
    speed: decimal("speed", { min: 0.25, max: 4, description: "how many times as fast as the voice's own pace" }),
    marks: Flag.Literals("marks", ["words", "json"]).pipe(
      Flag.withOptionalValue("words"),
      Flag.withDescription("show each word as it is heard; --marks=json prints a line of JSON for each"),
      orUndefined
    )
  },
  (given) =>
    running(
      () => import("../say/say.ts"),
      ({ say }) => say(given)
    )
).pipe(
  Command.withShortDescription("speak a text, to the sound card or to a file"),
  Command.withDescription(
    "Has the running fleet speak a text of up to 20,000 characters, to a file or to the sound card. Ctrl-C ends the request at once and leaves no half file."
  ),
  Command.withExamples([
    { command: 'starling say "Hello there." --marks' },
    { command: 'starling say "Guten Tag." --voice lena -o hello.mp3' },
    { command: "starling say --file README.md -o readme.ogg --marks=json" },
    { command: "starling say --voices" }
  ])
)

const loadLexicons = () => import("../say/lexicons.ts")

const listLexicons = Command.make("list", ofList, (given) =>
  running(loadLexicons, ({ listLexicons }) => listLexicons(given))
).pipe(Command.withDescription("Every lexicon of the workspace, a line each."))

const lexiconName = word("name", "of the lexicon")

const storeLexicon = Command.make(
  "store",
  {
    name: lexiconName,
    file: word("file", "a document of PLS 1.0 or a plain list, or - for standard input"),
    default: toggle("default", "use it for every request that names no lexicons")
  },
  (given) => running(loadLexicons, ({ storeLexicon }) => storeLexicon(given))
).pipe(
  Command.withDescription(
    "Stores a lexicon: creates it or replaces it completely. A plain list has a line for each word: SQL = sequel, or Nguyen /ŋwiən/."
  ),
  Command.withExamples([{ command: "starling lexicons store names names.txt --default" }])
)

const showLexicon = Command.make("show", { name: lexiconName }, (given) =>
  running(loadLexicons, ({ showLexicon }) => showLexicon(given))
).pipe(Command.withDescription("Prints a lexicon as it was stored."))

const deleteLexicon = Command.make("delete", { name: lexiconName }, (given) =>
  running(loadLexicons, ({ deleteLexicon }) => deleteLexicon(given))
).pipe(Command.withDescription("Deletes a lexicon."))

export const lexicons = Command.make("lexicons").pipe(
  Command.withShortDescription("list, store, show and delete pronunciations"),
  Command.withDescription("The lexicons of the running fleet's workspace: words, and how they are to be spoken."),
  Command.withSubcommands([listLexicons, storeLexicon, showLexicon, deleteLexicon])
)

const loadBooks = () => import("../say/audiobooks.ts")

const folder = Flag.File("out").pipe(
  Flag.withAlias("o"),
  Flag.withMetavar("FOLDER"),
  Flag.withDescription("where the chapters' files go")
)

const speakBook = Command.make(
  "speak",
  {
    file: word("file", "the book, by its ending .md .html .xhtml, else plain text; - for standard input"),
    out: folder,
    voice: Flag.String("voice").pipe(Flag.withMetavar("ID"), Flag.withDescription("who reads it")),
    speaker: texts("speaker", "NAME=VOICE", "who speaks paragraphs that begin with NAME and a colon, repeatable"),
    format: orUndefined(Flag.Literals("format", ["m4b", "mp3"]).pipe(Flag.withDescription("of the files (m4b)"))),
    title: text("title", "TEXT", "of the book; the file's name without it"),
    author: text("author", "TEXT", "who wrote it"),
    language: text("language", "TAG", "the language of the text, such as de-DE"),
    speed: decimal("speed", { min: 0.25, max: 4, description: "how many times as fast as the voice's own pace" })
  },
  (given) => running(loadBooks, ({ speakBook }) => speakBook(given))
).pipe(
  Command.withDescription(
    "Has a book of up to a million characters spoken, and fetches each chapter, with its captions, once it is finished. Ctrl-C leaves the job alone: fetch goes on with it."
  ),
  Command.withExamples([{ command: "starling audiobooks speak novel.md --voice heart -o novel" }])
)

const jobId = word("id", "of the job")

const fetchBook = Command.make("fetch", { id: jobId, out: folder }, (given) =>
  running(loadBooks, ({ fetchBook }) => fetchBook(given))
).pipe(Command.withDescription("Fetches the chapters of a job, and those to come; files that are there already stay."))

const listBooks = Command.make("list", ofList, (given) => running(loadBooks, ({ listBooks }) => listBooks(given))).pipe(
  Command.withDescription("Every job of the workspace, a line each, the newest first.")
)

const removeBook = Command.make("remove", { id: jobId }, (given) =>
  running(loadBooks, ({ removeBook }) => removeBook(given))
).pipe(Command.withDescription("Ends a job, and removes its text and its files from the fleet."))

export const audiobooks = Command.make("audiobooks").pipe(
  Command.withShortDescription("have a book spoken, and fetch, list and remove such jobs"),
  Command.withDescription("Books that the running fleet speaks in the background, with a file for each chapter."),
  Command.withSubcommands([speakBook, fetchBook, listBooks, removeBook])
)

export const pay = Command.make(
  "pay",
  {
    words: words("prompt", "what the model is asked"),
    model: text("model", "ID", "which model; else the first for text that the gateway lists"),
    chain: Flag.Literals("chain", ["evm", "solana"]).pipe(
      Flag.withDescription("where it is paid (evm)"),
      Flag.withDefault("evm")
    ),
    scheme: orUndefined(
      Flag.Literals("scheme", ["exact", "upto", "batch-settlement"]).pipe(
        Flag.withDescription(
          "exact: the quoted price; upto: what was used, at most the quoted price; batch-settlement: the same by payment channel (the first that the gateway offers)"
        )
      )
    ),
    maxUsd: Flag.String("max-usd").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("sign no dearer quote; dollars with at most six decimals (1)"),
      // The limit up to which wallets' own libraries sign without asking.
      Flag.withDefault("1")
    ),
    keyVariable: text("key-env", "NAME", "the variable that holds the payer's key; else the local chain's payer pays"),
    rpc: text("rpc", "URL", "a node of the chain; else the local one"),
    gateway: text("gateway", "URL", "the gateway; else that of the fleet of this home"),
    whole: toggle("whole", "take the answer in one piece"),
    refund: toggle("refund", "get back what is left in the payment channel; asks no model"),
    json
  },
  (given) =>
    running(
      () => import("../pay/pay.ts"),
      ({ pay, refund }) => (given.refund ? refund(given) : pay(given))
    )
).pipe(
  Command.withShortDescription("make a paid model call"),
  Command.withDescription(
    "Asks the gateway for its quote, signs it and shows the answer as it comes; the quote, the receipt and what the wallet had before and after go to standard error. Where the gateway offers payment channels, the call is paid by one, with a deposit first where it holds too little, and the answer comes in one piece. A key is read and never shown."
  ),
  Command.withExamples([
    { command: 'starling pay "Why is the sky blue?" --model demo/echo' },
    { command: 'starling pay "And the grass?" --scheme upto' },
    { command: 'starling pay "And the sea?" --chain solana --max-usd 0.05' },
    { command: "starling pay --refund" }
  ])
)

const dollars = (name: string, otherwise: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("USD"),
    Flag.withDescription(`${description} (${otherwise})`),
    Flag.withDefault(otherwise)
  )

export const payer = Command.make(
  "payer",
  {
    keyFile: file("key-file", "the wallet's key, 32 bytes in hex; - for standard input"),
    keyVariable: text("key-env", "NAME", "the variable that holds the key; else the local chain's payer pays"),
    gateway: text("gateway", "URL", "the gateway; else that of the fleet of this home"),
    rpc: text("rpc", "URL", "a node of the chain, which upto reads; else the local one"),
    port: wholeNumber("port", { min: 0, max: 65_535, description: "where it listens on 127.0.0.1 (7409)" }).pipe(
      Flag.withDefault(7_409)
    ),
    perCall: dollars("per-call", "0.25", "sign no dearer call"),
    perHour: dollars("per-hour", "2", "sign no more than that within an hour"),
    allow: texts("allow", "HOST", "also pay for calls of this host, repeatable; default: only the gateway"),
    network: texts("network", "NAME", "pay only on this network, such as base-sepolia, repeatable"),
    scheme: Flag.Literals("scheme", ["exact", "upto"]).pipe(
      Flag.withDescription("pay by it, again for each: exact is the quoted price, upto what was used (exact)"),
      Flag.atLeast(0)
    ),
    mainnet: toggle("mainnet", "pay also with money that is worth something")
  },
  (given) =>
    running(
      () => import("../payer/payer.ts"),
      ({ payer }) => payer(given)
    )
).pipe(
  Command.withShortDescription("pay for the calls of programs that know no x402"),
  Command.withDescription(
    "A proxy on this machine: each call goes on to the gateway, and where that asks for a payment it is signed within your limits and sent again. Callers need the token that it prints at its start, as Authorization or x-api-key. A line for each call says what it cost. Pays on test networks unless told otherwise. A key is read and never shown."
  ),
  Command.withExamples([
    { command: "starling payer" },
    { command: "starling payer --key-file wallet.key --gateway https://models.example.com --per-call 0.05 --mainnet" }
  ])
)

export const agents = Command.make(
  "agents",
  {
    agent: Argument.Literals("agent", ["codex", "claude", "opencode"]).pipe(
      Argument.withDescription("Codex, Claude Code or opencode")
    ),
    model: Flag.String("model").pipe(
      Flag.withMetavar("ID"),
      Flag.withDescription("which model, as the gateway lists it")
    ),
    payer: Flag.String("payer").pipe(
      Flag.withMetavar("URL"),
      Flag.withDescription("where starling payer listens (http://127.0.0.1:7409)"),
      Flag.withDefault("http://127.0.0.1:7409")
    ),
    gateway: text("gateway", "URL", "call this gateway itself, for free models"),
    write: toggle("write", "write it into the agent's own file, and keep a copy of the old one")
  },
  (given) =>
    running(
      () => import("../agents/agents.ts"),
      ({ configureAgent }) => configureAgent(given)
    )
).pipe(
  Command.withShortDescription("set up Codex, Claude Code or opencode to buy here"),
  Command.withDescription(
    "Prints what tells an agent to call the payer: the lines of its own file, and how it is started. With --write the lines are written into that file, everything else in it is preserved, and a copy of the old file is kept."
  ),
  Command.withExamples([
    { command: "starling agents codex --model demo/echo" },
    { command: "starling agents claude --model demo/echo --write" }
  ])
)

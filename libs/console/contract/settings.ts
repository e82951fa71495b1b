/** `Console`: where operators' calls are accepted. */
import { Schema } from "effect"
import { EnvironmentName, optional, OwnOrigins, section, WebUrl, whole, withDefault } from "#base"

const passedOn = (name: string) => `Where the page's calls to \`/apis/${name}\` go.`

// These headers have a meaning of their own here.
const taken = ["authorization", "cookie", "host", "origin", "x-starling-proxy-secret"]

const PersonHeader = Schema.String.check(
  Schema.isPattern(/^[A-Za-z][A-Za-z0-9-]{0,63}$/u),
  Schema.makeFilter((name) => !taken.includes(name.toLowerCase()) || "this header has another meaning")
)

interface Proxied {
  readonly PageProxyHeader?: string
  readonly PageProxySecretEnvVar?: string
}

const proxyRule = ({ PageProxyHeader: header, PageProxySecretEnvVar: variable }: Proxied) =>
  (header === undefined) === (variable === undefined) ||
  "PageProxyHeader and PageProxySecretEnvVar are given together: without a proof everybody could name themselves"

const keys = {
  Host: withDefault(Schema.NonEmptyString, "127.0.0.1", "Where the operators' API listens."),
  Port: withDefault(whole(0, 65_535), 7_405, "0: any free one."),
  BodyBytesMax: withDefault(
    whole(1_024, 1_048_576),
    524_288,
    "Of a request. An envelope of the largest size takes half of it when each character is escaped."
  ),
  Processes: withDefault(
    Schema.Array(WebUrl).check(Schema.isMaxLength(64)),
    [],
    "Where other processes of the fleet show metrics and health, such as `http://webhook-dispatcher:9400`; each address of a name is a process of its own. The console's process and its children need not be named."
  ),
  Page: withDefault(Schema.Boolean, false, "Serve the page, and take sessions by cookie. `./starling up` does."),
  PageFolder: withDefault(Schema.NonEmptyString, "/app/page", "Where the built page lies; the default is the image's."),
  PageOrigins: withDefault(
    OwnOrigins,
    [],
    "Where browsers reach the page, such as `https://console.example.com`. Loopback names, which tunnels and port forwards have, always do."
  ),
  PageProxyHeader: optional(
    PersonHeader,
    "The header in which an authenticating proxy in front names the person, such as `X-Forwarded-User`. It counts only with the secret. Without it nobody is signed in so."
  ),
  PageProxySecretEnvVar: optional(
    EnvironmentName,
    "The variable that holds the secret that the proxy proves itself with, in `X-Starling-Proxy-Secret`: 32 characters or more."
  ),
  PageProxyRole: withDefault(
    Schema.Literals(["viewer", "member", "admin", "owner"]),
    "viewer",
    "What everybody may whom the proxy lets in."
  ),
  PipelineUrl: optional(WebUrl, `${passedOn("pipeline")} The process' own where it runs that API.`),
  ModelsUrl: optional(WebUrl, `${passedOn("models")} The process' own where it runs the gateway.`),
  SpeechUrl: optional(WebUrl, `${passedOn("speech")} The process' own where it runs that API.`)
}
export const Console = section(keys, proxyRule)
export interface Console extends Schema.Schema.Type<typeof Console> {}

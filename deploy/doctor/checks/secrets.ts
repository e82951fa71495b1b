/**
 * Secrets: passwords of the broker's users, and the variables that the configuration names. No value is ever shown.
 * Pure.
 */
import { secretFault, type SecretKind } from "#base"
import { type Cluster, secretText } from "../cluster.ts"
import { keystoresFolder } from "../../generate/roles.ts"
import type { Told } from "../finding.ts"
import { passwordsSecret, type Plan } from "../plan.ts"

export const passwordsCheck = (cluster: Cluster, { namespace, users }: Plan): ReadonlyArray<Told> => {
  if (cluster.secrets === undefined || users.length === 0) return []
  const secret = cluster.secrets.find(({ metadata }) => metadata.name === passwordsSecret)
  if (secret === undefined) {
    return [
      {
        what: `there is no secret ${passwordsSecret}`,
        why: "each user of the brokers has its password in it, and the brokers do not start without",
        mend: [
          "mkdir -m 700 passwords",
          `for user in ${users.join(" ")}; do printf 'p%s' "$(openssl rand -hex 24)" >passwords/$user; done`,
          `kubectl -n ${namespace} create secret generic ${passwordsSecret} --from-file=passwords`
        ].join("\n")
      }
    ]
  }
  const texts = users.map((user) => [user, secretText(cluster, passwordsSecret, user)] as const)
  const absent = texts.filter(([, text]) => text === undefined || text === "").map(([user]) => user)
  const faulty = texts
    .filter(([, text]) => text !== undefined && text !== "" && !isPassword(text))
    .map(([user]) => user)
  return [
    ...(absent.length === 0
      ? []
      : [
          {
            what: `${passwordsSecret} has no password for ${absent.join(", ")}`,
            why: "a broker that misses one does not start; a role that misses its own is not let in",
            mend: patchOf(namespace, absent)
          }
        ]),
    ...(faulty.length === 0
      ? []
      : [
          {
            what: `the passwords of ${faulty.join(", ")} do not begin with a letter, or hold more than letters and digits`,
            why: "the server reads what begins with a digit as a number, `1e9` or `2k`, and a space or quote ends the value",
            mend: `${patchOf(namespace, faulty)}\nthen restart the brokers one at a time, and the roles`
          }
        ])
  ]
}

const isPassword = (text: string) => /^[A-Za-z][A-Za-z0-9_-]*$/u.test(text)

const patchOf = (namespace: string, users: ReadonlyArray<string>) =>
  users
    .map(
      (user) =>
        `kubectl -n ${namespace} patch secret ${passwordsSecret} --type merge -p "{\\"stringData\\":{\\"${user}\\":\\"p$(openssl rand -hex 24)\\"}}"`
    )
    .join("\n")

/** Variables that the configuration names, by the secret that must have them. */
export const variablesCheck = (cluster: Cluster, plan: Plan): ReadonlyArray<Told> => {
  if (cluster.secrets === undefined || plan.configuration === undefined) return []
  return wantedVariables(plan.configuration).flatMap(({ secret, kinds, why }) => {
    const variables = Object.keys(kinds)
    const bad = badSecrets(cluster, secret, kinds).map((what) => ({
      what,
      why: "a role starts with it only if its key is not empty, and the next release not at all",
      mend: `give ${secret} another one, and its receiver too`
    }))
    const absent = variables.filter((variable) => (secretText(cluster, secret, variable) ?? "") === "")
    if (absent.length === 0) return bad
    const isThere = cluster.secrets?.some(({ metadata }) => metadata.name === secret) ?? false
    const mend = isThere
      ? absent
          .map(
            (name) =>
              `kubectl -n ${plan.namespace} patch secret ${secret} --type merge -p '{"stringData":{"${name}":"..."}}'`
          )
          .join("\n")
      : `kubectl -n ${plan.namespace} create secret generic ${secret} ${absent.map((name) => `--from-literal=${name}=...`).join(" ")}`
    const missing = {
      what: `the secret ${secret} has no ${absent.join(", ")}, which the configuration names`,
      why,
      mend
    }
    return [missing, ...bad]
  })
}

const badSecrets = (cluster: Cluster, secret: string, kinds: Kinds) =>
  Object.entries(kinds).flatMap(([variable, kind]) => {
    const text = secretText(cluster, secret, variable) ?? ""
    const fault = text === "" ? undefined : secretFault(kind, text)
    return fault === undefined ? [] : [`${variable} in ${secret} is no good secret: ${fault.message}`]
  })

type Kinds = Readonly<Record<string, SecretKind>>

/** Files of keystores that the configuration names, where the pods of payment-settler have them. */
export const keystoresCheck = (cluster: Cluster, { configuration, namespace }: Plan): ReadonlyArray<Told> => {
  if (cluster.secrets === undefined || configuration === undefined) return []
  const named = configuration.Payments.Signers.flatMap(({ KeystoreFile, PasswordFile }) => [KeystoreFile, PasswordFile])
  const files = named.flatMap((path) =>
    path?.startsWith(`${keystoresFolder}/`) === true ? [path.slice(keystoresFolder.length + 1)] : []
  )
  const absent = [...new Set(files)].filter((file) => (secretText(cluster, keystoresSecret, file) ?? "") === "")
  if (absent.length === 0) return []
  return [
    {
      what: `the secret ${keystoresSecret} has no ${absent.join(", ")}, which the configuration names`,
      why: "payment-settler says which cannot be read, and does not start; nothing that is sold would be collected",
      mend: `kubectl -n ${namespace} create secret generic ${keystoresSecret} ${files.map((file) => `--from-file=${file}`).join(" ")} --dry-run=client -o yaml | kubectl apply -f -`
    }
  ]
}

const keystoresSecret = "starling-settler-keystores"

type Configured = NonNullable<Plan["configuration"]>

const wantedVariables = ({ Webhooks, WebhookDelivery, ModelGateway, Payments }: Configured) => {
  const named = (kind: SecretKind, texts: ReadonlyArray<string | undefined>): Kinds =>
    Object.fromEntries(texts.flatMap((text) => (text === undefined ? [] : [[text, kind]])))
  return [
    {
      secret: "starling-webhook-secrets",
      kinds: {
        ...named(
          "signature",
          Webhooks.map((webhook) => webhook.SecretEnvVar)
        ),
        ...named(
          "standardWebhooks",
          Webhooks.map((webhook) => webhook.StandardWebhooksSecretEnvVar)
        ),
        ...named(
          "password",
          [WebhookDelivery, ...Webhooks]
            .map((one) => one.ProxyPasswordEnvVar)
            .concat(Webhooks.map((webhook) => webhook.OAuthSecretEnvVar))
        )
      },
      why: "webhook-dispatcher says which are not set, and does not start"
    },
    {
      secret: "starling-provider-keys",
      kinds: named(
        "provider",
        ModelGateway.Providers.map(({ KeyEnvVar }) => KeyEnvVar)
      ),
      why: "model-gateway says which are not set, and does not start"
    },
    {
      secret: "starling-settler-keys",
      kinds: named("checked", [
        ...Payments.Networks.flatMap(({ SettlerKeyEnvVars }) => SettlerKeyEnvVars ?? []),
        ...Payments.Channels.flatMap(({ AuthorizerKeyEnvVar, RetiringAuthorizerKeyEnvVars }) => [
          AuthorizerKeyEnvVar,
          ...RetiringAuthorizerKeyEnvVars
        ]),
        ...Payments.Refunds.map(({ KeyEnvVar }) => KeyEnvVar),
        ...Payments.Signers.map(({ PasswordEnvVar }) => PasswordEnvVar)
      ]),
      why: "payment-settler says which are not set, and does not start; nothing that is sold would be collected"
    }
  ]
}

/** Settings in force of a configuration's layers, and a configuration whose every secret place is filled. */
import { Result } from "effect"
import { decodeConfiguration, effectiveSettings, settingSources } from "#configuration"
import { overlay } from "../../../libs/configuration/Configuration.ts"

export type Json = Readonly<Record<string, unknown>>

export const settingsOf = (file: Json, environment: Readonly<Record<string, string>> = {}, launcher: Json = {}) => {
  const sources = settingSources({ launcher, file, environment })
  const input = overlay({ ...launcher, ...file }, environment)
  return effectiveSettings(Result.getOrThrow(decodeConfiguration(input)), sources)
}

export const network = {
  Network: "eip155:84532",
  PayTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
}

/** A configuration with a secret in every place that may hold one. */
export const withSecrets = (secret: string, password: string): Json => ({
  Bus: { Url: `nats://role:${secret}@one:4222,two:4222`, User: "role", Password: password },
  Telemetry: { OtlpUrl: `https://collector.example/${secret}` },
  ModelGateway: { Providers: [{ Name: "p", BaseUrl: `https://api.example/${secret}/v1?key=${secret}` }] },
  Payments: {
    Signers: [
      {
        Name: "vault",
        Address: "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23",
        Url: `https://signer.example/${secret}`
      }
    ],
    Networks: [
      {
        ...network,
        RpcUrls: [`https://rpc.example/v2/${secret}`, `https://other.example/?key=${secret}`],
        FacilitatorUrl: `https://facilitator.example/${secret}`
      }
    ]
  },
  Redaction: { Patterns: [{ Name: "own", Pattern: secret }] },
  Webhooks: [{ Name: "shop", Url: "https://shop.example/", Headers: { Authorization: secret } }]
})

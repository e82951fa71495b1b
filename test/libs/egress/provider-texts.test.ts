import { assert, describe, it } from "@effect/vitest"
import { clean } from "./planted.ts"

/** What providers write, what of it must not get outside, and what a caller still reads. */
const texts: ReadonlyArray<readonly [said: string, hidden: ReadonlyArray<string>, kept: ReadonlyArray<string>]> = [
  [
    "User: arn:aws:sts::123456789012:assumed-role/gateway-prod/i-0abc is not authorized to perform: bedrock:InvokeModel on resource: arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-v2",
    ["123456789012", "gateway-prod", "us-east-1", "i-0abc", "claude-v2"],
    ["is not authorized to perform"]
  ],
  [
    "Could not resolve the foundation model from arn:aws-us-gov:bedrock:us-gov-west-1:210987654321:application-inference-profile/a1b2c3d4e5f6",
    ["210987654321", "us-gov-west-1", "a1b2c3d4e5f6"],
    ["Could not resolve the foundation model"]
  ],
  [
    "Access denied for account 123456789012 in region eu-central-1",
    ["123456789012", "eu-central-1"],
    ["Access denied"]
  ],
  [
    "The API deployment for this resource does not exist. If you created the deployment 'gpt4o-prod-eu' within the last 5 minutes, please wait",
    ["gpt4o-prod-eu"],
    ["The API deployment for this resource does not exist", "please wait"]
  ],
  [
    "DeploymentNotFound: Deployment my-gpt-4o not found in resource group rg-models-1",
    ["my-gpt-4o", "rg-models-1"],
    ["not found"]
  ],
  ["Deployment name: chatprod, resource: contoso-ai (westeurope)", ["chatprod", "contoso-ai", "westeurope"], []],
  [
    "Requests to the ChatCompletions_Create Operation have exceeded the token rate limit of your current pricing tier for deployment `gpt-4-32k-team7` in Sweden (swedencentral)",
    ["gpt-4-32k-team7", "swedencentral"],
    ["have exceeded the token rate limit"]
  ],
  [
    "The client does not have authorization over scope '/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg-ai/providers/Microsoft.CognitiveServices/accounts/contoso'",
    ["11111111-2222", "rg-ai", "contoso", "Microsoft.CognitiveServices"],
    ["does not have authorization"]
  ],
  [
    "POST https://contoso.openai.azure.com/openai/deployments/chat/chat/completions failed",
    ["contoso", "deployments/chat"],
    ["failed"]
  ],
  [
    "Publisher Model `projects/my-proj/locations/us-central1/publishers/google/models/gemini-pro` was not found or your project does not have access to it.",
    ["my-proj", "us-central1", "publishers"],
    ["was not found or your project does not have access"]
  ],
  [
    "Quota exceeded for aiplatform.googleapis.com/generate_content_requests with base model: x, consumer 'project_number:987654321098', region europe-west4",
    ["987654321098", "europe-west4", "googleapis.com"],
    ["Quota exceeded"]
  ],
  [
    "Project 'acme-123' (number 987654321098) has no quota in asia-northeast1-a",
    ["acme-123", "987654321098", "asia-northeast1"],
    ["has no quota"]
  ],
  ["Internal error. Request ID: 7f3c9a1b", ["7f3c9a1b"], ["Internal error."]],
  ["Error (request-id=ab12-cd34, trace id 99ff00aa)", ["ab12-cd34", "99ff00aa"], []],
  ["x-amzn-RequestId: 1b2c3d4e-aaaa-bbbb-cccc-1234567890ab", ["1b2c3d4e", "1234567890ab"], []],
  [
    "upstream 10.2.3.4:8080 (llm-7.prod.svc.cluster.local) refused the connection",
    ["10.2.3.4", "llm-7", "cluster.local"],
    ["refused the connection"]
  ],
  [
    "Organization org-AbCd1234 has exceeded its limit of 30000 tokens per min",
    ["org-AbCd1234"],
    ["30000 tokens per min"]
  ],
  ["account 'accounts/acme/models/llama' is suspended", ["acme", "llama"], ["is suspended"]],
  ["Incorrect API key provided: sk-proj-abc***xyz9.", ["sk-proj-abc", "xyz9"], ["Incorrect API key provided"]]
]

/** They say nothing of anybody: all of it is kept. */
const plain = [
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
  "messages.1.content.0: tool_use ids must be unique",
  "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens",
  "Invalid schema for function 'look': 'north' is not of type 'object'",
  "The account is not active, please check your billing details.",
  "Your organization must be verified to use the model.",
  "this resource does not exist",
  "Rate limit reached: 40000 tokens in 60 seconds, try again in 1.2s"
]

describe("a provider's text", () => {
  it.each(texts)("names no account, deployment, project, region or request: %s", (said, hidden, kept) => {
    const left = clean(said)
    for (const each of hidden) assert.notInclude(left.toLowerCase(), each.toLowerCase(), left)
    for (const each of kept) assert.include(left, each)
  })

  it.each(plain)("is left alone where it names none: %s", (said) => assert.strictEqual(clean(said), said))
})

/** Every generated document of the project: contracts, the APIs, metrics, topology. Pure. */
import { actorMetrics } from "#actors"
import { audioMetrics, intakeMetrics } from "#speech/audio"
import { busMetrics, topology, topologyDocument } from "#bus"
import { runbooksPage } from "#console/conditions"
import { contractDocuments } from "#pipeline/contract"
import { settingsPage } from "#configuration"
import { egressMetrics } from "#egress"
import { httpMetrics } from "#http"
import {
  buildInfo,
  certificateMetrics,
  checkMetrics,
  drainMetrics,
  metricsDocument,
  readinessMetrics,
  tracingMetrics
} from "#runtime"
import { engineMetrics, modelMetrics } from "#speech"
import { cloningMetrics, consentMetrics } from "#speech/cloning"
import { x402Metrics } from "#payments"
import { compatibilityPage, modelGatewayMetrics, gatewayDocuments, paymentMetrics } from "#model-gateway/documents"
import { consoleDocuments, keptMetrics } from "#console/documents"
import { pipelineDocuments, pipelineMetrics } from "#pipeline-api/documents"
import { speechApiMetrics, speechAsyncApi, speechClientsChapter, speechDocuments } from "#speech-api/documents"
import { settlerMetrics } from "#payment-settler/metrics"
import { verifierMetrics } from "#payment-verifier/metrics"
import { sequencerMetrics } from "#speech-sequencer/metrics"
import { synthesizerMetrics } from "#speech-synthesizer/metrics"
import { diskMetrics } from "./nats-server/disk.ts"
import { sweeperMetrics } from "#sweeper/metrics"
import { webhookMetrics } from "#webhook-dispatcher/metrics"

export const generatedDocuments = () => [
  ...contractDocuments(),
  ...[pipelineDocuments, speechDocuments, gatewayDocuments, consoleDocuments].flatMap(({ files }) => files()),
  { path: "docs/speech-asyncapi.json", content: `${JSON.stringify(speechAsyncApi(), null, 2)}\n` },
  { path: "docs/compatibility.md", content: `${compatibilityPage()}\n${speechClientsChapter()}` },
  { path: "docs/settings.md", content: settingsPage() },
  { path: "docs/runbooks.md", content: runbooksPage() },
  { path: "docs/topology.md", content: topologyDocument(topology) },
  {
    path: "docs/metrics.md",
    content: metricsDocument([
      { title: "pipeline-api", metrics: pipelineMetrics },
      { title: "webhook-dispatcher", metrics: webhookMetrics },
      { title: "sweeper", metrics: sweeperMetrics },
      { title: "model-gateway", metrics: [...modelGatewayMetrics, ...paymentMetrics] },
      { title: "payment-verifier", metrics: verifierMetrics },
      { title: "payment-settler", metrics: settlerMetrics },
      { title: "speech-api", metrics: speechApiMetrics },
      { title: "speech-sequencer", metrics: sequencerMetrics },
      { title: "speech-synthesizer", metrics: synthesizerMetrics },
      { title: "Speech engines", metrics: [...engineMetrics, ...modelMetrics] },
      { title: "Cloned voices", metrics: [...intakeMetrics, ...consentMetrics, ...cloningMetrics] },
      { title: "Encoders", metrics: audioMetrics },
      { title: "Payments", metrics: x402Metrics },
      { title: "Actors", metrics: actorMetrics },
      { title: "Public APIs", metrics: httpMetrics },
      { title: "Bus", metrics: [...busMetrics, ...diskMetrics] },
      { title: "console", metrics: keptMetrics },
      { title: "Egress", metrics: egressMetrics },
      {
        title: "Runtime",
        metrics: [
          buildInfo,
          ...checkMetrics,
          ...certificateMetrics,
          ...drainMetrics,
          ...readinessMetrics,
          ...tracingMetrics
        ]
      }
    ])
  }
]

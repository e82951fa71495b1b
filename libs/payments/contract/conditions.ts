/** What can be wrong with payments: chains, settlers, books. */
import type { ConditionGroup } from "#base/condition"

export const paymentConditions: ConditionGroup = {
  name: "starling-payments",
  title: "Payments",
  conditions: [
    {
      name: "PaymentBooksDiffer",
      severity: "critical",
      title: "Chain, claims and receipts of {network} differ: {value} open findings of {finding}.",
      hurts: "A payer or the seller may have lost money on {network}.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "payment_book_findings_standing" },
        by: ["network", "finding"],
        is: [">", 0]
      },
      after: "0m",
      causedBy: [],
      commands: ["./starling books list", "./starling books show ID", "./starling books mend ID"],
      runbook: {
        means:
          "The chain, RECEIPTS and the records of payment channels disagree: a transfer without a receipt, a receipt without its transfer, amounts that differ, or a channel whose charges do not match its receipts, its vouchers or the chain. It stands as long as a finding is open, and ends with the comparison after that.",
        lookAt:
          "`./starling books list`: the open findings. `./starling books show <id>`: one with its transfer, receipts and claims, what it means and what to do. The transaction in a block explorer.",
        act: '`./starling books mend <id>` where the list says that it may help: a settler settles an overdue payment after a look at the chain, writes a missing receipt, or serves again a payer who has paid after all. Otherwise stop selling on that network until the cause is understood, then `./starling books accept <id> --reason "..."`. A finding that a later comparison does not confirm ends by itself; `./starling books list --ended` lists those of thirty days. Do not edit claims by hand.'
      }
    },
    {
      name: "PaymentBooksUnread",
      severity: "warning",
      title: "Chain and receipts of {network} were last fully compared {value:duration} ago.",
      hurts: "Nothing yet. But money lost on {network} would go unnoticed.",
      seen: { kind: "age", series: { metric: "payment_books_read_timestamp_seconds" }, by: ["network"], above: 3600 },
      after: "5m",
      causedBy: [
        "StarlingBusDisconnected",
        "StarlingStreamsUnusable",
        "StarlingPodDown",
        "PaymentChainUnreachable",
        "PaymentSettlerWithoutKey"
      ],
      commands: ["./starling books list"],
      runbook: {
        means: "No settler has compared chain and receipts for an hour.",
        lookAt:
          "`./starling books list`: when each network was compared, and why not since. Whether a settler holds the lease `payment-books`; the network's nodes.",
        act: "Restart the settlers, or give the network another node."
      }
    },
    {
      name: "PaymentChannelsDiffer",
      severity: "critical",
      title: "{value} payment channels of {network} disagree with their receipts or the chain.",
      hurts: "The seller may have lost what channels of {network} were charged.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "payment_channel_differences" },
        by: ["network"],
        is: [">", 0]
      },
      after: "0m",
      causedBy: [],
      commands: ["./starling books list"],
      runbook: {
        means:
          "Payment channels cannot be explained: charged without a voucher, charged more than is left in them, or charged another amount than their receipts say. Money that has left a channel is lost.",
        lookAt:
          '`./starling books list`: each is a finding `ChannelDiffers` with its channel, what differs and by how much, in the settlers\' log as `a payment channel cannot be explained`. `payment_channel_units{sum="lost"}`; `payment_channel_transactions_total` for claims that were refused.',
        act: "If a payer withdrew before anything was claimed, find out why no settler claimed within `WithdrawDelaySeconds`: it had no key, no fees or no chain. Lower `ChannelClaimUsd` and `ChannelClaimSeconds` to have less outstanding. Receipts that are missing, or too many, come from a backup of RECEIPTS or of KV `channels` that was restored without the other: `./starling books accept <id>` once that is certain. After a restore of an old backup of KV `channels`, the charges since then are forfeited."
      }
    },
    {
      name: "PaymentChannelsUnwatched",
      severity: "critical",
      title: "The payment channels of {network} have not been checked for {value:duration}.",
      hurts: "Vouchers on {network} will soon be refused, and a payer that withdraws goes unnoticed.",
      seen: {
        kind: "age",
        series: { metric: "payment_channels_watched_timestamp_seconds" },
        by: ["network"],
        above: 300
      },
      after: "1m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable", "StarlingPodDown", "PaymentChainUnreachable"],
      commands: ["./starling books list"],
      runbook: {
        means:
          "For five minutes no settler has seen what payers do with their channels. Vouchers are refused after `ChannelMirrorSeconds`, and a payer that withdraws goes unnoticed: everything must be claimed within `WithdrawDelaySeconds`.",
        lookAt:
          "Which settler holds the lease `channels-<network>`, and its log; the network's nodes, whose newest block may have stopped advancing.",
        act: "Restart the settlers, or give the network another node."
      }
    },
    {
      name: "PaymentSettlementsUncollected",
      severity: "warning",
      title: "{value} calls on {network} were served and not paid.",
      hurts: "The seller is not paid for these calls.",
      seen: {
        kind: "rise",
        series: { metric: "payment_settlement_tries_total", where: { outcome: "uncollected" } },
        by: ["network"],
        within: "1h",
        above: 0
      },
      after: "0m",
      causedBy: ["PaymentSettlerWithoutKey", "PaymentSignerFailing", "PaymentChainUnreachable"],
      commands: ["./starling receipts list --outcome uncollected", "./starling receipts sums --by payer"],
      runbook: {
        means:
          "Calls were served, and their payments expired before they could be collected. The payer is on the deny list; `UnpaidPayerMaxUsd` bounds the loss.",
        lookAt:
          "`./starling receipts list --outcome uncollected`: the reasons. `./starling receipts sums --by payer`: the payers. `./starling claims show <key>`: one, with what its payer owes.",
        act: "An empty account is the payer's fault. Many at once are ours: fees, keys or nodes."
      }
    },
    {
      name: "PaymentSettlementsSlow",
      severity: "warning",
      title: "The oldest payment to be settled has waited for {value:duration}.",
      hurts: "What was sold for it may never be collected: payments expire.",
      seen: {
        kind: "age",
        series: { metric: "payment_settlement_waiting_since_seconds" },
        by: [],
        above: 90
      },
      after: "5m",
      causedBy: [
        "StarlingBusDisconnected",
        "StarlingStreamsUnusable",
        "PaymentChainUnreachable",
        "PaymentSettlerWithoutKey",
        "PaymentFeesLow",
        "PaymentSignerFailing"
      ],
      commands: ["./starling claims list --state SETTLING", "./starling books list"],
      runbook: {
        means: "More than a minute passes between an answer and its receipt. Payments that expire meanwhile are lost.",
        lookAt:
          "`./starling claims list --state SETTLING`, the one that waits longest first, and how often each was requested; the settler's log for the reason; fees on the network; nonce gaps (`payment_nonce_gaps_filled_total`).",
        act: "Top up the settler's account: `./starling books list` shows what each key holds for fees. Use another node. Add keys to `SettlerKeyEnvVars`; keys settle in parallel."
      }
    },
    {
      name: "PaymentSettlerWithoutKey",
      severity: "critical",
      title: "No settler holds a key for {network}: its payments are not collected.",
      hurts: "Calls on {network} are served and not collected; their payments may expire.",
      seen: {
        kind: "level",
        of: "sum",
        series: { metric: "payment_settler_keys_held" },
        by: ["network"],
        is: ["==", 0]
      },
      after: "2m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable", "StarlingPodDown"],
      commands: ["./starling claims list --state SETTLING"],
      runbook: {
        means: "No process holds a key for this network, so no payment is collected there.",
        lookAt:
          "The settlers' pods; the lease of each key; whether the secret is mounted. `./starling claims list --state SETTLING`: what waits.",
        act: "Start settlers with the network's keys. Until then, stop selling there."
      }
    },
    {
      name: "PaymentFeesLow",
      severity: "warning",
      title: "A settler's key on {subject} can pay the fees of fewer than 100 transfers.",
      hurts: "Nothing yet. Without fees, nothing is collected on {subject}.",
      after: "5m",
      causedBy: ["PaymentChainUnreachable"],
      commands: ["./starling books list"],
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "check_failing", where: { check: "fees", subject: { not: "" } } },
        by: ["subject"],
        is: ["==", 1]
      },
      runbook: {
        means:
          "A settler's key holds too little of the network's native coin, or the network asks for more per gas than the cap, so that no transfer is offered.",
        lookAt:
          "`./starling books list`: what each key holds. `payment_settler_transactions_left`: 0 for all keys is a price above the cap, which the settler's log names.",
        act: "Send coin to the key's address. A price above the cap falls by itself. Until then its payments wait, and those that expire are lost."
      }
    },
    {
      name: "PaymentChainUnreachable",
      severity: "critical",
      title: "No node of {network} answers.",
      hurts: "No payment on {network} is accepted: its paid calls answer 503, and settlements wait.",
      seen: { kind: "level", of: "most", series: { metric: "x402_chain_unreachable" }, by: ["network"], is: ["==", 1] },
      after: "1m",
      causedBy: [],
      commands: ["./starling doctor", "./starling books list"],
      runbook: {
        means:
          "No node of the network answers, by the latest call or the check every ten seconds. Verification answers 503, and settlements wait.",
        lookAt:
          "`./starling books list`: when the network was last compared. The verifiers' log, `/readyz` (`chain`), `x402_rpc_calls_total`; the status page of the nodes' provider.",
        act: "Bring a node back, or add one to `RpcUrls`."
      }
    },
    {
      name: "PaymentChainNodeOut",
      severity: "warning",
      title: "{value} calls to nodes of {network} were not answered.",
      hurts: "Nothing, while another node of {network} answers.",
      seen: {
        kind: "rise",
        series: { metric: "x402_rpc_calls_total", where: { outcome: "unavailable" } },
        by: ["network"],
        within: "15m",
        above: 3
      },
      after: "5m",
      causedBy: ["PaymentChainUnreachable"],
      commands: ["./starling books list"],
      runbook: {
        means:
          "Calls to a node repeatedly get no answer; other nodes serve. `x402_rpc_nodes_open` shows the nodes that are skipped.",
        lookAt: "The status page of its provider.",
        act: "Replace it before the next node fails."
      }
    },
    {
      name: "PaymentTokenMismatch",
      severity: "critical",
      title: "The token on {network} is not the configured one: nothing is sold there.",
      hurts: "Nothing is sold on {network}.",
      seen: { kind: "level", of: "most", series: { metric: "x402_token_mismatch" }, by: ["network"], is: ["==", 1] },
      after: "1m",
      causedBy: [],
      commands: ["./starling models list"],
      runbook: {
        means:
          "The configured token, or the chain behind `RpcUrls`, differs from what the chain reports. Quotes no longer offer the network, and its payments are refused. Other networks and free models are still served.",
        lookAt: "The log line `nothing is sold on`, with the configured value and the token's; `/readyz` has it too.",
        act: "Correct `AssetName`, `AssetVersion`, `AssetDecimals`, `Asset` or `RpcUrls`; a known token needs none of the first three. Verifiers with this fault are not ready, so that a rollout of such a configuration stops at the first pod."
      }
    },
    {
      name: "PaymentFacilitatorUnavailable",
      severity: "critical",
      title: "The facilitator of {network} does not answer.",
      hurts: "No payment on {network} is accepted or settled through it: its calls answer 503.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "x402_facilitator_unreachable" },
        by: ["network"],
        is: ["==", 1]
      },
      after: "1m",
      causedBy: [],
      commands: ["./starling doctor", "./starling claims list --state SETTLING"],
      runbook: {
        means:
          "The remote facilitator does not answer. Settlements that were requested from it are looked up on the chain.",
        lookAt: "The facilitator's status page, the network policy, the certificate.",
        act: "Wait, or settle on that network with your own keys."
      }
    },
    {
      name: "PaymentFacilitatorUnconfirmed",
      severity: "warning",
      title: "The facilitator reported {value} settlements on {network} that are not on the chain.",
      hurts: "The seller may not be paid for these calls.",
      seen: {
        kind: "rise",
        series: { metric: "x402_facilitator_unconfirmed_total" },
        by: ["network"],
        within: "5m",
        above: 0
      },
      after: "10m",
      causedBy: ["PaymentChainUnreachable"],
      commands: ["./starling claims list --state SETTLING"],
      runbook: {
        means:
          "For ten minutes the remote facilitator has reported payments as settled that the chain did not show five seconds later. Each is pending: it is answered with `X-Payment-Settled: false`, and is looked up and requested again until it ends. `UnpaidPayerMaxUsd` bounds the loss.",
        lookAt:
          "`./starling claims list --state SETTLING`; the settler's log for the transaction that the facilitator names, in a block explorer; the age of the newest block at the nodes of `RpcUrls`; PaymentSettlementsUncollected, which counts the payments that were lost this way.",
        act: "If the transaction is on the chain by now, the nodes are behind, or the facilitator answers before it sends: use another node. If it is nowhere, or pays someone else: stop selling on that network, and settle there with your own keys."
      }
    },
    {
      name: "PaymentNewcomersRefused",
      severity: "warning",
      title: "New payers have reached their unpaid limit: {value} payments a second are refused.",
      hurts: "Payers that have paid little so far get 429. Others are served.",
      seen: {
        kind: "pace",
        series: { metric: "x402_claims_total", where: { outcome: "newcomers" } },
        by: [],
        above: 0.1
      },
      after: "5m",
      causedBy: ["PaymentChainUnreachable", "PaymentSettlerWithoutKey", "PaymentSettlementsSlow"],
      commands: ["./starling receipts list --outcome uncollected", "./starling claims list --state UNCOLLECTED"],
      runbook: {
        means:
          "Payers that have paid little so far have as much unpaid, in progress or lost within a day, as `UnpaidNewcomersMaxUsd` allows. More of them get 429 `PAYMENT_EXPOSURE_LIMIT`. Payers that have paid before are served, and so are those that pay by channel.",
        lookAt:
          "`x402_unpaid_usd` and `increase(x402_unpaid_lost_usd_total[1d])`. Much unpaid and little lost is a crowd, or a slow chain. Much lost is somebody who empties wallets: `./starling receipts list --outcome uncollected`, `./starling claims list --state UNCOLLECTED`.",
        act: "For a crowd, raise `UnpaidNewcomersMaxUsd`: it is what strangers can cost you in a day. Otherwise leave it: losses are forgotten after a day. Offer payment channels, which are funded in advance."
      }
    },
    {
      name: "PaymentSignerFailing",
      severity: "critical",
      title: "The remote signer {subject} does not answer, or does not have its key.",
      hurts: "Its keys collect no payments, which may expire.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "check_failing", where: { check: "signer", subject: { not: "" } } },
        by: ["subject"],
        is: ["==", 1]
      },
      after: "1m",
      causedBy: [],
      commands: ["./starling doctor", "./starling claims list --state SETTLING"],
      runbook: {
        means:
          "A settler could not sign: its remote signer is away, has lost the key, or returns an invalid signature. The payments wait, and nothing is sent.",
        lookAt:
          "`/readyz` of the settlers, `signer <Name>`; their log; the signer's own log and health (`/upcheck`, `/healthcheck`). `./starling claims list --state SETTLING`: what waits.",
        act: "Bring the signer back, or give it the key again (`POST /reload` of web3signer). With a second key on the network, settlements continue with that one, except for payers of `upto` who have signed for the first."
      }
    }
  ]
}

/** What the settlers keep of the payment books, as operators see it. Pure. */
import {
  type BookFinding,
  type BookState,
  canBeMended,
  coinDecimalsOf,
  type FindingKind,
  isoTime,
  type PaymentNetwork
} from "#contracts"
import type { BookView, FindingSummary } from "#contracts/console"
import { tokenOf } from "./receipts.ts"

type Networks = ReadonlyArray<PaymentNetwork>

interface Explained {
  readonly meaning: string
  readonly advice: string
}

/** What each finding means and what to do about it. The runbook of PaymentBooksDiffer says the same. */
export const explanations: Readonly<Record<FindingKind, Explained>> = {
  TransferWithoutReceipt: {
    meaning: "Money arrived that no payment of ours explains.",
    advice:
      "With a claim: mend writes its receipt when it has ended. Without one it is a gift or a payment that nobody asked for: give it back by hand or keep it, and accept it with the reason."
  },
  ReceiptWithoutTransfer: {
    meaning: "A receipt says that a payment was collected, and the chain has no such transfer.",
    advice:
      "Look for the transaction in a block explorer. A node that was behind is found out by itself: the finding ends when the transfer comes. Where the transfer is nowhere, stop selling on that network until it is understood; then accept it."
  },
  AmountDiffers: {
    meaning: "A receipt and its transfer are of different amounts.",
    advice:
      "Look at the token: it may take a fee of transfers. Stop selling in it until it is understood; then accept it."
  },
  ReceiptsDisagree: {
    meaning: "One payment has two receipts with different ends.",
    advice: "The chain decides: look for the transaction in a block explorer, and accept it with what is true."
  },
  TransferCountedTwice: {
    meaning: "One transfer is in the receipts of two payments.",
    advice:
      "One of the two was not paid. Stop selling on that network, report it as a fault of the settlers, and accept it."
  },
  UncollectedButPaid: {
    meaning: "A payment was given up, and the chain has it after all. Its payer is served no more.",
    advice: "Mend serves the payer again. Its receipt stays as it is: the finding says what is true."
  },
  ClaimWithoutReceipt: {
    meaning: "A payment has ended without a receipt.",
    advice: "The settlers write it by themselves; mend does it now."
  },
  SettlingOverdue: {
    meaning: "A payment's time is over, and its settlement has not ended.",
    advice:
      "The settlers look at the chain again and again; mend does it now. It stays open while the chain does not answer."
  }
}

/** The alert PaymentBooksUnread goes by the same. */
const behindMs = 3_600_000

export const bookView = (
  entry: PaymentNetwork,
  state: BookState | undefined,
  { standing, nowMs }: { readonly standing: number; readonly nowMs: number }
): BookView => {
  const comparedAtMs = state?.comparedAtMs ?? null
  return {
    network: entry.Network,
    asset: entry.Asset,
    symbol: entry.AssetSymbol,
    decimals: entry.AssetDecimals,
    payTo: entry.PayTo,
    comparedAt: comparedAtMs === null ? null : isoTime(comparedAtMs),
    triedAt: state === undefined ? null : isoTime(state.triedAtMs),
    isBehind: comparedAtMs === null || nowMs - comparedAtMs > behindMs,
    trouble: state === undefined ? "no settler has compared it yet" : state.trouble,
    holder: state?.holder ?? null,
    standing,
    keys: (state?.keys ?? []).map((key) => ({ ...key, decimals: coinDecimalsOf(entry.Network) })),
    notKept: state?.notKept ?? 0
  }
}

export const findingView = (networks: Networks, finding: BookFinding): FindingSummary => {
  const { id, kind, network, payTo, transfer, receipts, end } = finding
  const part = transfer ?? receipts[0]
  const asset = part?.asset ?? networks.find(({ Network }) => Network === network)?.Asset ?? ""
  return {
    id,
    kind,
    network,
    asset,
    ...tokenOf(networks, { network, asset }),
    payTo,
    amount: part?.amount ?? null,
    payer: part?.payer ?? null,
    transaction: part?.transaction ?? null,
    foundAt: isoTime(finding.foundAtMs),
    canBeMended: end === null && canBeMended(finding),
    end: end === null ? null : { how: end.how, at: isoTime(end.atMs), by: end.by, reason: end.reason }
  }
}

/** The exact scheme on Solana. */
export type { CheckedSvmPayment } from "./check.ts"
export { openSvmScheme, svmDefaults, type SvmOptions, type SvmScheme } from "./exact-svm.ts"
export type { FeeLimits } from "./instructions.ts"
export type { PreparedSvmSettlement, SettleOptions } from "./settle.ts"
export { readSettlerKey as readSvmKey } from "./keys.ts"
export { signTransfer, type TransferToSign } from "./sign-transfer.ts"

/** The gateway's API as a declaration, and its client. `#contracts` has the shapes alone. */
export { gatewayClient, Payment } from "./GatewayHttpApi.ts"
export { type GatewayBase, gatewayBases, GatewayHttpApi } from "./GatewayHttpApi.ts"
export { gatewayErrorCodes } from "./refusals.ts"
export { CallsGroup } from "./endpoints/calls.ts"
export { ImagesGroup } from "./endpoints/images.ts"
export { ModelsGroup } from "./endpoints/models.ts"

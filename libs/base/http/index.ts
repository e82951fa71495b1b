/**
 * How the endpoints of an API are declared. This is separate from `#base`, so that only a caller that declares routes
 * loads HttpApi.
 */
export * from "./declaration.ts"
export * from "./endpoints.ts"

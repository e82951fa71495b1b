/**
 * The common parts of HTTP API declarations. They stand apart from `#contracts`, so that only a caller that declares
 * routes loads HttpApi.
 */
export { IdempotencyKey } from "./client-token.ts"
export {
  BearerToken,
  BodyExample,
  bodyOf,
  codesByStatus,
  descriptionGroup,
  DescriptionGroup,
  NeededPermission,
  NeededScopes,
  type Refusal,
  refusalShape,
  refusalsFrom,
  refusalsOf,
  described
} from "./declaration.ts"

/**
 * The common parts of HTTP API declarations. They stand apart from `#contracts`, so that only a caller that declares
 * routes loads HttpApi.
 */
export {
  BearerToken,
  BodyExample,
  bodyOf,
  DescriptionGroup,
  NeededScope,
  type Refusal,
  refusalsFrom,
  refusalsOf,
  described
} from "./declaration.ts"

/**
 * The common parts of HTTP API declarations. They stand apart from `#contracts`, so that only a caller that declares
 * routes loads HttpApi.
 */
export {
  BearerToken,
  BodyExample,
  bodyOf,
  codesByStatus,
  descriptionGroup,
  DescriptionGroup,
  NeededScope,
  type Refusal,
  refusalShape,
  refusalsFrom,
  refusalsOf,
  described
} from "./declaration.ts"

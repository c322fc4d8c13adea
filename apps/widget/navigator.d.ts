/** Global Privacy Control, which TypeScript's own list lacks. */
interface Navigator {
  readonly globalPrivacyControl?: boolean;
}

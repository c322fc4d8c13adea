/** Global Privacy Control is missing from TypeScript's DOM types. */
interface Navigator {
  readonly globalPrivacyControl?: boolean;
}

export { sha256 } from '#libs/runtime/sha256';

/** What is wrong with a proof, a key or a note, as a sentence to whoever brought it. */
export class ProofError extends Error {
  override name = 'ProofError';
}

/** An error in a proof, a key or a note, as a sentence for the person who submitted it. */
export class ProofError extends Error {
  override name = 'ProofError';
}

/** What is wrong with a proof, a key or a note, as a sentence to whoever brought it. */
export class Refused extends Error {
  override name = 'Refused';
}

/** A failure whose message tells the user what is wrong, and where possible what to do: shown without a stack. */
export class Advice extends Error {
  override name = 'Advice';
}

export function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A shell command for Assent's operator. */
export const assentCommand = (command: string): string => `npm run -s assent -- ${command}`;

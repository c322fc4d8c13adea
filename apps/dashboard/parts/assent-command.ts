/** What the operator of Assent types in a shell. */
export const assentCommand = (command: string): string => `npm run -s assent -- ${command}`;

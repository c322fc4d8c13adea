/** Names as the service takes them: other signs become `_`, and what is too long is cut. */
export const categoryName = (name: string): string => name.replace(/[^A-Za-z0-9_.:-]/g, '_').slice(0, 64);

/** Makes a name that the service accepts: other characters become `_`, and long names are cut. */
export const categoryName = (name: string): string => name.replace(/[^A-Za-z0-9_.:-]/g, '_').slice(0, 64);

/** Where the service is on its host: '' at the top, or the path that a proxy has it under, such as `/consent`. */
export const base: string = globalThis.document?.documentElement.dataset.base ?? '';

/** The origin of the service, and its path there: what addresses of it begin with. */
export const serviceAddress = (): string => location.origin + base;

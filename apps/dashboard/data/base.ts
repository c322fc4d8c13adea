/** Where the service is on its host: '' at the top, or the path that a proxy has it under, such as `/consent`. */
export const base: string = globalThis.document?.documentElement.dataset.base ?? '';

/** The domain that the demo shop of this service records for, if it has one. */
export const demoDomain: string | undefined = globalThis.document?.documentElement.dataset.demo;

/** The origin of the service, and its path there: what addresses of it begin with. */
export const serviceAddress = (): string => location.origin + base;

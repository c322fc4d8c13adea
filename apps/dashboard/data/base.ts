/** The path of the service on its host: '' at the root, or a proxy's prefix such as `/consent`. */
export const base: string = globalThis.document?.documentElement.dataset.base ?? '';

/** The domain of this service's demo shop, if it has one. */
export const demoDomain: string | undefined = globalThis.document?.documentElement.dataset.demo;

/** PUBLIC_URL, where people sign in with an account. Undefined without accounts. */
export const accountsAddress: string | undefined = globalThis.document?.documentElement.dataset.accounts;
export const hasAccounts = accountsAddress !== undefined;

/** Origin and path of the service: the start of all its addresses. */
export const serviceAddress = (): string => location.origin + base;

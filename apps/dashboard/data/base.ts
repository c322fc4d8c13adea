/** Where the service is on its host: '' at the top, or the path that a proxy has it under, such as `/consent`. */
export const base: string = globalThis.document?.documentElement.dataset.base ?? '';

/** The domain that the demo shop of this service records for, if it has one. */
export const demoDomain: string | undefined = globalThis.document?.documentElement.dataset.demo;

/** Where people sign in with an account: PUBLIC_URL. Undefined where there are no accounts. */
export const accountsAddress: string | undefined = globalThis.document?.documentElement.dataset.accounts;
export const hasAccounts = accountsAddress !== undefined;

/** The origin of the service, and its path there: what addresses of it begin with. */
export const serviceAddress = (): string => location.origin + base;

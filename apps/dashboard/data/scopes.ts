/** What the access token may do. The service decides; this only spares visitors what would be refused. */
import type { Organization } from '#libs/contract/responses';

/** One visitor's records and their erasure. */
export const mayReadVisitors = ({ scopes }: Organization): boolean => scopes.includes('privacy');

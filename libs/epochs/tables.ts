import type { Table } from '#libs/base/db/tables';

export const tables: Table[] = [{ name: 'epochs' }, { name: 'closed_epochs' }, { name: 'derivations' }];

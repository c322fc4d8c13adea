import type { Table } from '#libs/base/db/tables';

export const tables: Table[] = [{ name: 'widget_files' }];

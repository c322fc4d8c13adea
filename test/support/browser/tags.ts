/** What writes the widget's tag and reads it again, as one program for a browser. */
export { tagOf } from '../../../apps/dashboard/widget-setup/draft/tag.ts';
export { readPasted } from '../../../apps/dashboard/widget-setup/draft/tag-reader.ts';

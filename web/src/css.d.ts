// Style sheets are imported for their effect; the bundler collects them.
declare module "*.css";

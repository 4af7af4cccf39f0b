-- Check what a projection has put off to the commit. There nobody could say whose fault it is, and the lane would be locked meanwhile.
set constraints all immediate

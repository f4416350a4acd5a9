# labrig_add_submission(), labrig_add_lab()
